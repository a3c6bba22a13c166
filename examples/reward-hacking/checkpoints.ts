import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RlReport } from '@rlp/algorithms';
import { ArgumentError, type TrainingBackend } from '@rlp/core';
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
  /** Those that are kept: after which iterations, the older one first. */
  #iterations: readonly number[];

  /** @param iterations - Of an earlier process's checkpoints in the directory. */
  constructor(directory: string, backend: TrainingBackend, iterations: readonly number[] = []) {
    this.#directory = directory;
    this.#backend = backend;
    this.#iterations = iterations;
  }

  /** Iterations after which the kept ones were saved, at most two. */
  get iterations(): readonly number[] {
    return this.#iterations;
  }

  /** Saves the first iteration and every fourth; none that hacking was suspected in. */
  async consider({ iteration, findings }: RlReport): Promise<void> {
    if (iteration % every !== 0 || findings.some(({ rule }) => rule === hackingRule)) return;
    await mkdir(this.#directory, { recursive: true });
    await this.#backend.saveCheckpoint(this.#pathOf(iteration));
    await this.#keep([...this.#iterations, iteration].slice(-2));
  }

  /** Loads the older of the two newest checkpoints, and forgets the newer. @throws ArgumentError where there is none. */
  async goBack(): Promise<void> {
    const [oldest] = this.#iterations;
    if (oldest === undefined) throw new ArgumentError('reward-hacking: there is no checkpoint to go back to');
    await this.#backend.loadCheckpoint(this.#pathOf(oldest));
    await this.#keep([oldest]);
  }

  async #keep(iterations: readonly number[]): Promise<void> {
    const others = this.#iterations.filter((iteration) => !iterations.includes(iteration));
    this.#iterations = iterations;
    for (const other of others) await rm(this.#pathOf(other), { recursive: true, force: true });
  }

  #pathOf(iteration: number): string {
    return join(this.#directory, `checkpoint-${iteration}`);
  }
}
