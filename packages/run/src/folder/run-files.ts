import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { requireArguments } from '@rlp/core';

/** Paths of the files and folders of a run. */
export interface RunFiles {
  /** Configuration, versions, seeds and host, as JSON. */
  readonly run: string;
  /** Metrics of each iteration, one JSON line each. */
  readonly metrics: string;
  /** Notes and findings, one JSON line each. */
  readonly notes: string;
  /** Folder of recorded trajectories, JSON Lines. */
  readonly trajectories: string;
  /** Folder of checkpoints. */
  readonly checkpoints: string;
  /** Folder of evaluations. `final.json` is the last one. */
  readonly evaluations: string;
  /** Accuracies, lengths and speeds as JSON, once the run is finished. */
  readonly summary: string;
  /** Page with curves, samples and evaluations. */
  readonly report: string;
}

/**
 * The folder of a model: `directory` itself, or the best or last model of the run in it. `undefined` if it holds no model.
 *
 * @param file - What the folder holds. Default `'config.json'`.
 */
export function savedModel(directory: string, file = 'config.json'): string | undefined {
  requireArguments('savedModel', { directory: 'text', file: 'text?' }, directory, file);
  const { checkpoints } = runFiles(directory);
  const folders = [directory, join(checkpoints, 'best'), join(checkpoints, 'last')];
  return folders.find((folder) => existsSync(join(folder, file)));
}

/** Names the files of the run in `directory`. Creates nothing. */
export function runFiles(directory: string): RunFiles {
  requireArguments('runFiles', { directory: 'text' }, directory);
  return {
    run: join(directory, 'run.json'),
    metrics: join(directory, 'metrics.jsonl'),
    notes: join(directory, 'notes.jsonl'),
    trajectories: join(directory, 'trajectories'),
    checkpoints: join(directory, 'checkpoints'),
    evaluations: join(directory, 'evaluations'),
    summary: join(directory, 'summary.json'),
    report: join(directory, 'report.html'),
  };
}
