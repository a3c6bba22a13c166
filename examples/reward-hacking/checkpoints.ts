import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RlReport } from '@rlp/algorithms';
import type { TrainingBackend } from '@rlp/core';
import { hackingRule } from '@rlp/quality-monitor';

/** Iterations between two checkpoints. */
const every = 4;

/**
 * Checkpoints that a run can go back to. The newest may already be on the way to the hack, for an alarm takes evidence and so
 * comes late; so it goes back to the one before.
 */
export class Checkpoints {
  readonly #directory: string;
  readonly #backend: TrainingBackend;
  /** The newest two, the older one first. */
  #paths: readonly string[] = [];

  constructor(directory: string, backend: TrainingBackend) {
    this.#directory = directory;
    this.#backend = backend;
  }

  /** Saves the first iteration and every fourth; none that hacking was suspected in. */
  async consider({ iteration, findings }: RlReport): Promise<void> {
    if (iteration % every !== 0 || findings.some(({ rule }) => rule === hackingRule)) return;
    await mkdir(this.#directory, { recursive: true });
    const path = join(this.#directory, `checkpoint-${iteration}`);
    await this.#backend.saveCheckpoint(path);
    const all = [...this.#paths, path];
    this.#paths = all.slice(-2);
    for (const old of all.slice(0, -2)) await rm(old, { recursive: true, force: true });
  }

  /** Loads the older of the two newest checkpoints, and forgets the newer. */
  async goBack(): Promise<void> {
    const [path, ...newer] = this.#paths;
    if (path === undefined) return;
    await this.#backend.loadCheckpoint(path);
    this.#paths = [path];
    for (const suspect of newer) await rm(suspect, { recursive: true, force: true });
  }
}
