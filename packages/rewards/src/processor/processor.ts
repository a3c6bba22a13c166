import {
  ArgumentError,
  onAbort,
  parseOptions,
  type RewardComputer,
  type ScoredTrajectory,
  type TrajectoryGroup,
} from '@rlp/core';
import * as z from 'zod';
import type { ExternalReward } from '../external/external-reward.ts';
import type { Fetch } from '../external/fetch.ts';
import { Tally } from '../tally.ts';
import { timerMs } from '../timer.ts';
import { scoreBatch, sumOfComponents } from './batch.ts';
import { episodesFromBuffer, type RewardBuffer } from './buffer.ts';
import { type CalledReward, callForEach } from './calls.ts';
import { ComponentScorer, componentNames } from './component-scorer.ts';
import { type ResolvedRewardConfig, type RewardConfig, resolveRewardConfig } from './config.ts';
import { type ReadEpisode, type RewardEpisode, referenceOf } from './episode.ts';
import { type EpisodeFailure, EpisodeRewards } from './episode-rewards.ts';
import { type EpisodeScorer, externalSource } from './external-source.ts';
import { fillFluency } from './fluency.ts';
import type { FluencyScorer } from './fluency-scorer.ts';
import { type ProcessorStatistics, ProcessorTally } from './statistics.ts';

const isFunction = (value: unknown) => typeof value === 'function';

const addedSchema = z.strictObject({
  weight: z.number().default(1),
  timeoutMs: timerMs.default(30_000),
});

/** A reward of one's own: what a response is worth. `null`: it cannot tell, and the episode is unscorable. */
export type EpisodeReward = (
  prompt: string,
  response: string,
  context: { readonly metadata: Readonly<Record<string, unknown>>; readonly signal: AbortSignal },
) => number | null | PromiseLike<number | null>;

/** Options of {@link RolloutRewardProcessor.addReward}. */
export interface AddRewardOptions {
  /** Factor in the sum. `0` only observes: the part is reported and cannot make an episode unscorable. Default 1. */
  readonly weight?: number | undefined;
  /** Milliseconds an asynchronous call may take. Default 30 000. */
  readonly timeoutMs?: number | undefined;
}

/** What a processor works with, besides its config. */
export interface RewardDependencies {
  /** Judges fluency with a model. Default: {@link fluencyReward}, which needs none. */
  readonly fluencyScorer?: FluencyScorer | undefined;
  /**
   * The external reward, blended in; replaces `externalRmUrl`. A function keeps to `maxWorkers` and `externalRmTimeout`, an
   * `externalReward({ … })` of `@rlp/rewards/external` to limits of its own.
   */
  readonly external?: EpisodeScorer | ExternalReward | undefined;
  /** Share of the external reward in the blend, from 0 to 1. Default 0.7. */
  readonly externalShare?: number | undefined;
  /** Talks to `externalRmUrl`. Default: the platform's. */
  readonly fetch?: Fetch | undefined;
  /** The reference answer of an example. Default {@link referenceOf}. */
  readonly reference?: ((metadata: Readonly<Record<string, unknown>>) => string | undefined) | undefined;
  /** Milliseconds since any fixed point, for the statistics. Default `performance.now`. */
  readonly clock?: (() => number) | undefined;
}

/** What every call takes. */
export interface ProcessOptions {
  /** Ends the call with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Scores whole episodes in batches.
 *
 *     reward = Σ_k weight_k · component_k + Σ_j weight_j · added_j,   blended with an external reward where there is one:
 *     reward ← 0.7 · external + 0.3 · reward
 *
 * One episode's trouble (no text, a function that throws, hangs or gives NaN, a server that does not answer) makes that
 * episode's reward `null`, and a counted failure in the result; no other episode is touched, and no number is made up.
 */
export class RolloutRewardProcessor implements RewardComputer {
  /** The config with its defaults. */
  readonly config: ResolvedRewardConfig;
  readonly #scorer: ComponentScorer;
  readonly #fluencyScorer: FluencyScorer | undefined;
  readonly #external: CalledReward | undefined;
  readonly #added: CalledReward[] = [];
  readonly #clock: () => number;
  readonly #tally = new ProcessorTally();
  readonly #closing = new AbortController();

  /** @throws `OptionsError` naming every problem of the config at once. */
  constructor(config: RewardConfig = {}, dependencies: RewardDependencies = {}) {
    const { fluencyScorer, reference = referenceOf, clock = () => performance.now() } = dependencies;
    this.config = resolveRewardConfig(config);
    this.#scorer = new ComponentScorer(this.config, reference);
    this.#fluencyScorer = fluencyScorer;
    this.#external = externalSource(this.config, dependencies);
    this.#clock = clock;
  }

  /**
   * Adds a reward of one's own to the sum.
   *
   * @param name - Names it in components, failures and statistics.
   * @throws `ArgumentError` for a name that is taken, or what is no function; `OptionsError` for bad options.
   */
  addReward(name: string, reward: EpisodeReward, options: AddRewardOptions = {}): this {
    const { weight, timeoutMs } = parseOptions('addReward', addedSchema, options);
    const taken = [...componentNames, 'external', 'episode', ...this.#added.map((added) => added.name)];
    if (name === '' || taken.includes(name)) {
      throw new ArgumentError(
        `addReward: expected a name that is not empty and none of ${taken.join(', ')}, got ${JSON.stringify(name)}`,
      );
    }
    if (!isFunction(reward)) {
      throw new ArgumentError(`addReward: expected "${name}" to be a function, got ${typeof reward}`);
    }
    const call: CalledReward['call'] = ({ prompt, response, metadata }, signal) =>
      reward(prompt, response, { metadata, signal });
    this.#added.push({ name, weight, timeoutMs, tally: new Tally(), call });
    return this;
  }

  /** Rewards of episodes, in order; empty for none. Rejects with the signal's reason, or once closed. */
  async processEpisodeRewards(
    episodes: readonly RewardEpisode[],
    { signal }: ProcessOptions = {},
  ): Promise<EpisodeRewards> {
    this.#requireOpen();
    signal?.throwIfAborted();
    const begun = this.#clock();
    const controller = new AbortController();
    const abort = (from: AbortSignal) => onAbort(from, () => controller.abort(from.reason));
    const release = [this.#closing.signal, ...(signal ? [signal] : [])].map(abort);
    try {
      const rewards = await this.#process(episodes, controller.signal);
      this.#tally.add(rewards, this.#clock() - begun);
      return rewards;
    } finally {
      for (const stop of release) stop();
    }
  }

  /** Reward of one episode. @param example - What is known about the task, such as `{ answer }`. */
  async processRollout(
    prompt: string,
    completion: string,
    example: Readonly<Record<string, unknown>> = {},
    options: ProcessOptions = {},
  ): Promise<number | null> {
    const episode = { prompt, response: completion, metadata: example };
    return (await this.processEpisodeRewards([episode], options)).at(0);
  }

  /** Rewards of episodes given as columns. Rejects with an `ArgumentError` where they are not equally long. */
  async processBatchRollouts(
    prompts: readonly string[],
    completions: readonly string[],
    examples: readonly Readonly<Record<string, unknown>>[],
    options: ProcessOptions = {},
  ): Promise<EpisodeRewards> {
    if (prompts.length !== completions.length || prompts.length !== examples.length) {
      throw new ArgumentError(
        `processBatchRollouts: expected as many prompts, completions and examples, got ${prompts.length}, ${completions.length} and ${examples.length}`,
      );
    }
    const episodes = prompts.map((prompt, row) => ({
      prompt,
      response: completions[row]!,
      metadata: examples[row]!,
    }));
    return this.processEpisodeRewards(episodes, options);
  }

  /** Rewards of everything in a buffer, in its order; see {@link episodesFromBuffer}. */
  async processBufferRewards(buffer: RewardBuffer, options: ProcessOptions = {}): Promise<EpisodeRewards> {
    return this.processEpisodeRewards(episodesFromBuffer(buffer), options);
  }

  /** Scores a group of trajectories, for training: a processor is a `RewardComputer`. */
  readonly computeRewards = async <Metadata>(
    { trajectories }: TrajectoryGroup<Metadata>,
    options: ProcessOptions = {},
  ): Promise<readonly ScoredTrajectory<Metadata>[]> => {
    const rewards = await this.processBufferRewards(trajectories, options);
    const components = Object.entries(rewards.components);
    return trajectories.map((trajectory, row) => ({
      trajectory,
      reward: rewards.at(row),
      components: Object.fromEntries(
        components.map(([name, column]) => [name, Number.isNaN(column[row]) ? null : column[row]!]),
      ),
    }));
  };

  /** Scores a stream `batchSize` episodes at a time and holds no more of it than that. */
  async *processEpisodeStream(
    episodes: Iterable<RewardEpisode> | AsyncIterable<RewardEpisode>,
    options: ProcessOptions = {},
  ): AsyncGenerator<{ readonly episodes: readonly RewardEpisode[]; readonly rewards: EpisodeRewards }> {
    let batch: RewardEpisode[] = [];
    for await (const episode of episodes) {
      batch.push(episode);
      if (batch.length < this.config.batchSize) continue;
      yield { episodes: batch, rewards: await this.processEpisodeRewards(batch, options) };
      batch = [];
    }
    if (batch.length > 0) {
      yield { episodes: batch, rewards: await this.processEpisodeRewards(batch, options) };
    }
  }

  /** Counts since it was made. */
  getStatistics(): ProcessorStatistics {
    return this.#tally.snapshot(this.#called());
  }

  /** Ends calls under way and refuses new ones. May be called again. */
  close(): void {
    this.#closing.abort(new ArgumentError('RolloutRewardProcessor: closed while calls were under way'));
  }

  /** {@link RolloutRewardProcessor.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #called(): CalledReward[] {
    return this.#external === undefined ? this.#added : [...this.#added, this.#external];
  }

  #requireOpen(): void {
    if (!this.#closing.signal.aborted) return;
    throw new ArgumentError(
      'RolloutRewardProcessor: expected a processor that is open, got a closed one; make a new one',
    );
  }

  async #process(given: readonly RewardEpisode[], signal: AbortSignal): Promise<EpisodeRewards> {
    const batch = scoreBatch(this.#scorer, given);
    let { failures } = batch;
    if (this.#fluencyScorer !== undefined && this.#scorer.weights[2] !== 0) {
      const rows = batch.rowsWithWords.map((row) => ({ row, request: batch.episodes[row]! }));
      const { batchSize } = this.config;
      const { fluency } = batch.columns;
      failures = failures.concat(
        await fillFluency(this.#fluencyScorer, rows, fluency, { batchSize, signal }),
      );
    }
    const { data, components } = sumOfComponents(this.#scorer, batch);
    for (const { reward, column, failures: more } of await this.#call(batch.episodes, signal)) {
      const { name, weight } = reward;
      components[name] = column;
      failures = failures.concat(more);
      if (name === 'external') blend(data, column, weight);
      else if (weight !== 0) addWeighted(data, column, weight);
    }
    dropInfinities(data, failures);
    return new EpisodeRewards(data, components, failures);
  }

  #call(episodes: readonly (ReadEpisode | null)[], signal: AbortSignal) {
    const options = { concurrency: this.config.maxWorkers, clock: this.#clock, signal };
    return Promise.all(
      this.#called().map(async (reward) => ({ reward, ...(await callForEach(reward, episodes, options)) })),
    );
  }
}

/** A {@link RolloutRewardProcessor}. @throws `OptionsError` naming every problem of the config at once. */
export function createRolloutRewardProcessor(
  config: RewardConfig = {},
  dependencies: RewardDependencies = {},
): RolloutRewardProcessor {
  return new RolloutRewardProcessor(config, dependencies);
}

function addWeighted(data: Float64Array, column: Float64Array, weight: number): void {
  for (let row = 0; row < data.length; row++) data[row]! += weight * column[row]!;
}

function blend(data: Float64Array, external: Float64Array, share: number): void {
  for (let row = 0; row < data.length; row++) {
    data[row] = share * external[row]! + (1 - share) * data[row]!;
  }
}

/** A sum that overflows is no reward. */
function dropInfinities(data: Float64Array, failures: EpisodeFailure[]): void {
  for (let row = 0; row < data.length; row++) {
    if (Number.isFinite(data[row]!) || Number.isNaN(data[row]!)) continue;
    const message = `the weighted sum is ${data[row]}`;
    failures.push({ index: row, source: 'episode', cause: 'not-finite', message });
    data[row] = Number.NaN;
  }
}
