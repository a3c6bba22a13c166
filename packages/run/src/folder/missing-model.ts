import { requireArguments } from '@rlp/core';
import { runFiles } from './run-files.ts';
import { readRunRecord } from './run-record.ts';

/** What to do about the folder of a run that holds no model. `undefined` if the folder holds no run. */
export async function missingModel(directory: string): Promise<string | undefined> {
  requireArguments('missingModel', { directory: 'text' }, directory);
  const record = await readRunRecord(runFiles(directory).run);
  if (record === undefined) return undefined;
  if (record.mode !== 'eval')
    return `the run ${directory} has saved no model yet; continue it with rlp run resume ${directory}`;
  const { model } = record.config;
  const evaluated = typeof model === 'string' ? model : 'the folder of the model that it evaluated';
  return `the run ${directory} only evaluates and saves no model; give ${evaluated}`;
}
