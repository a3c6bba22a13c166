import { messageOf, plural } from '@rlp/core';
import { columnsOf } from '@rlp/data';
import { loadDataset } from '@rlp/data/datasets';
import { checkRunPairs, type RunConfig } from '@rlp/run';
import type { Finding } from './finding.ts';

/** Whether the first row of a file has a preferred answer. */
export async function holdsPairs(path: string, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    for await (const row of await loadDataset(path, { signal })) return columnsOf(row).chosen !== undefined;
  } catch {
    signal?.throwIfAborted();
  }
  return false; // Whoever reads the file next says what is wrong with it.
}

/** Looks at the preference pairs of a run. No finding if it learns from none. */
export async function checkPairs(config: RunConfig, signal: AbortSignal | undefined): Promise<Finding[]> {
  const name = 'pairs';
  try {
    const checked = await checkRunPairs(config, { signal });
    if (checked === undefined) return [];
    const { pairs, problems, tooLong } = checked;
    if (problems.length > 0) return problems.map((text): Finding => ({ name, state: 'problem', text }));
    if (tooLong !== undefined) return [{ name, state: 'note', text: tooLong }];
    return [{ name, state: 'fine', text: `${plural(pairs, 'pair')} with two different answers` }];
  } catch (error) {
    signal?.throwIfAborted();
    return [{ name, state: 'problem', text: messageOf(error) }];
  }
}
