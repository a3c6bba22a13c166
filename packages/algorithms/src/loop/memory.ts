import { type MemoryForecast, type TokenSequence, tokenSequences } from '@rlp/core';
import { isMasked } from '../sequence/is-masked.ts';
import { memoryOf } from '../training/memory-of.ts';
import type { ResolvedRlOptions } from './options.ts';
import type { RlDependencies, RlState, ScoredGroup } from './protocol.ts';
import { RunStoppedError } from './run-stopped.ts';

/** Where the run stands. */
interface Place {
  readonly iteration: number;
  readonly state: RlState;
}

/** What an update with these sequences takes, with what the sampler holds. */
interface Foretold {
  readonly forecast: MemoryForecast;
  readonly sequences: readonly Pick<TokenSequence, 'tokens' | 'mask'>[];
  readonly sampler: Readonly<Record<string, number>>;
  readonly bytes: number;
}

/** What is asked, and what a stop gives back. */
type MemoryParts = Pick<RlDependencies, 'backend' | 'inference' | 'tasks'> & {
  readonly rollouts: Pick<RlDependencies['rollouts'], 'options'>;
};

interface MemoryOptions extends Pick<ResolvedRlOptions, 'tasksPerIteration' | 'lookAhead'> {
  readonly failureBudget: Pick<ResolvedRlOptions['failureBudget'], 'whenSpent'>;
}

/**
 * Compares what training takes with what the machine has.
 *
 * Before a run only weights, gradients and the optimizer are sure. The lengths of the samples are known before the first update, and
 * change. So each batch that takes more than any before is looked at. It need not be longer: short sequences fill micro-batches.
 */
export class MemoryCheck {
  readonly #parts: MemoryParts;
  readonly #whenSpent: 'stop' | 'continue';
  /** Sequences that are sampled at once, as far as the sampler has room for them. `undefined`: as many as it has room for. */
  readonly #sampled: number | undefined;
  readonly #say: (text: string) => void;
  /** Bytes of the largest batch. */
  #largest = 0;

  constructor(
    parts: MemoryParts,
    { failureBudget, tasksPerIteration, lookAhead }: MemoryOptions,
    say: (text: string) => void,
  ) {
    this.#parts = parts;
    this.#whenSpent = failureBudget.whenSpent;
    const { groupSize } = parts.rollouts.options;
    this.#sampled = groupSize && groupSize * tasksPerIteration * (1 + lookAhead);
    this.#say = say;
  }

  /** @throws RunStoppedError if weights, gradients and the optimizer alone are too much. */
  atStart(at: Place): void {
    const foretold = this.#foretell([{ tokens: [0, 0], mask: Uint8Array.of(0, 1) }]);
    if (foretold) this.#compare(foretold, at);
  }

  /** Gives the tasks back before it throws. @throws RunStoppedError if the updates of an iteration take too much. */
  beforeUpdates(groups: readonly ScoredGroup[], at: Place): void {
    if (this.#parts.backend.forecastMemory === undefined) return;
    const scored = groups.flatMap(({ scored }) => scored.filter(({ reward }) => reward !== null));
    const sequences = scored.flatMap(({ trajectory }) => tokenSequences(trajectory.steps));
    const foretold = this.#foretell(sequences.filter(({ mask }) => !isMasked(mask)));
    if (foretold === undefined || foretold.bytes <= 1.05 * this.#largest) return;
    this.#largest = foretold.bytes;
    this.#compare(foretold, at);
  }

  #foretell(sequences: Foretold['sequences']): Foretold | undefined {
    const { backend, inference } = this.#parts;
    const forecast = backend.forecastMemory?.(sequences);
    if (forecast === undefined) return undefined;
    const longest = sequences.reduce((most, { tokens }) => Math.max(most, tokens.length), 0);
    const sampler = {
      'key-value cache': inference.cacheBytes?.(longest, this.#sampled) ?? 0,
      'rollout weights': inference.weightBytes ?? 0,
    };
    const parts = [forecast.bytes, sampler].flatMap((bytes) => Object.values(bytes));
    return { forecast, sequences, sampler, bytes: parts.reduce((sum, part) => sum + part, 0) };
  }

  #compare({ forecast, sequences, sampler }: Foretold, at: Place): void {
    const look = memoryOf(forecast, sequences, sampler);
    if (look === undefined) return;
    const { sentence, remedy } = look;
    if (look.outcome === 'tight' || this.#whenSpent === 'continue') {
      this.#say(`${sentence}; ${remedy}`);
      return;
    }
    this.#parts.tasks.seek(at.state.taskCursor);
    throw new RunStoppedError({ reason: 'memory', sentence, remedy }, at);
  }
}
