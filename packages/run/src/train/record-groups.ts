import { join } from 'node:path';
import type { ScoredGroup } from '@rlp/algorithms';
import { withTokenTexts } from '@rlp/core';
import { writeTextFile } from '@rlp/data/store';
import { type TextTokenizer, tokenTexts } from '@rlp/models';

/** Writes groups of an iteration as `trajectories/NNNNNNNN.jsonl`, which `rlp view` reads. */
export async function recordGroups(
  folder: string,
  iteration: number,
  groups: readonly ScoredGroup[],
  tokenizer: TextTokenizer,
): Promise<void> {
  const lines = groups.flatMap(({ scored }) =>
    scored.map((record) =>
      JSON.stringify({
        version: 1,
        ...withTokenTexts({ ...record, iteration }, (tokens) => tokenTexts(tokenizer, tokens)),
      }),
    ),
  );
  await writeTextFile(join(folder, `${String(iteration).padStart(8, '0')}.jsonl`), `${lines.join('\n')}\n`);
}
