import { type TokenSequence, tokenSequences } from '@rlp/core';
import { memoryOf } from '../training/memory-of.ts';
import type { ResolvedRlOptions } from './options.ts';
import type { RlDependencies, RlState, ScoredGroup } from './protocol.ts';
import { RunStoppedError } from './run-stopped.ts';

/** Where the run stands. */
interface Place {
  readonly iteration: number;
  readonly state: RlState;
}

/**
 * Compares what training takes with what the machine has.
 *
 * Before a run only weights, gradients and the optimizer are sure. The lengths of the samples are known before the first update, and
 * grow. So each batch with longer or more sequences than any before is looked at.
 */
export class MemoryCheck {
  readonly #parts: Pick<RlDependencies, 'backend' | 'inference' | 'tasks'>;
  readonly #whenSpent: 'stop' | 'continue';
  readonly #say: (text: string) => void;
  #largest = 0;

  constructor(
    parts: Pick<RlDependencies, 'backend' | 'inference' | 'tasks'>,
    { whenSpent }: Pick<ResolvedRlOptions['failureBudget'], 'whenSpent'>,
    say: (text: string) => void,
  ) {
    this.#parts = parts;
    this.#whenSpent = whenSpent;
    this.#say = say;
  }

  /** @throws RunStoppedError if weights, gradients and the optimizer alone are too much. */
  atStart(at: Place): void {
    this.#look([{ tokens: [0, 0], mask: Uint8Array.of(0, 1) }], at);
  }

  /** Gives the tasks back before it throws. @throws RunStoppedError if the updates of an iteration take too much. */
  beforeUpdates(groups: readonly ScoredGroup[], at: Place): void {
    const scored = groups.flatMap(({ scored }) => scored.filter(({ reward }) => reward !== null));
    const steps = scored.map(({ trajectory }) => trajectory.steps);
    const lengths = steps.flat().map(({ promptTokens, tokens }) => promptTokens.length + tokens.length);
    const size = steps.length * longestOf(lengths);
    if (size <= 1.25 * this.#largest) return;
    this.#largest = size;
    this.#look(steps.flatMap(tokenSequences), at);
  }

  #look(sequences: readonly Pick<TokenSequence, 'tokens' | 'mask'>[], at: Place): void {
    const { backend, inference, tasks } = this.#parts;
    const longest = longestOf(sequences.map(({ tokens }) => tokens.length));
    const look = memoryOf(backend, sequences, inference.cacheBytes?.(longest));
    if (look === undefined) return;
    const { sentence, remedy } = look;
    if (look.outcome === 'tight' || this.#whenSpent === 'continue') {
      this.#say(`${sentence}; ${remedy}`);
      return;
    }
    tasks.seek(at.state.taskCursor);
    throw new RunStoppedError({ reason: 'memory', sentence, remedy }, at);
  }
}

function longestOf(lengths: readonly number[]): number {
  return lengths.reduce((longest, length) => Math.max(longest, length), 0);
}
