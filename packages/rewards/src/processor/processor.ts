import {
  ArgumentError,
  longestTimerMs,
  parseOptions,
  type RewardComputer,
  type RewardFunction,
  requireArguments,
  type ScoredTrajectory,
  type Trajectory,
  type TrajectoryGroup,
  timerMs,
  untilAborted,
  withSignals,
} from '@rlp/core';
import * as z from 'zod';
import {
  type ScoredPart,
  scoredPart,
  scoreTrajectories,
  withoutOverflow,
} from '../functions/score-trajectories.ts';
import type { RewardFunctionStatistics } from '../functions/tally.ts';
import {
  episodeOf,
  episodesFromBuffer,
  type RewardBuffer,
  type RewardEpisode,
  referenceOf,
} from '../shared/episode.ts';
import { componentNames, textComponents, type WeightedComponent } from './components.ts';
import { type ResolvedRewardConfig, type RewardConfig, resolveRewardConfig } from './config.ts';
import { dependenciesSchema, type RewardDependencies } from './dependencies.ts';
import { EpisodeRewards, type EpisodeScore, readEpisodes } from './episode-rewards.ts';
import { externalPart } from './external.ts';
import { batchedFluency, type FluencyScorer } from './fluency-scorer.ts';

const addedSchema = z.strictObject({
  /** Factor in the sum. 0 only observes, so the part is reported and cannot make an episode unscorable. Default 1. */
  weight: z.number().default(1),
  /** Milliseconds that an asynchronous call may take. Default 30 000. */
  timeoutMs: timerMs.default(30_000),
});

/** Your own reward of a response. `null` makes the episode unscorable. */
export type EpisodeReward = (
  prompt: string,
  response: string,
  context: { readonly metadata: Readonly<Record<string, unknown>>; readonly signal: AbortSignal },
) => number | null | Promise<number | null>;

/** Options of {@link RolloutRewardProcessor.addReward}. */
export interface AddRewardOptions extends z.input<typeof addedSchema> {}

/** Options of a call. */
export interface ProcessOptions {
  /** Ends the call with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Counts of a processor since it was made. */
export interface ProcessorStatistics {
  readonly episodes: number;
  /** Episodes whose reward is `null`. */
  readonly unscorable: number;
  /** Failures by cause. An episode may have several. */
  readonly failures: Readonly<Record<NonNullable<EpisodeScore['failures']>[number]['cause'], number>>;
  /** Calls of every part, by name. */
  readonly rewards: Readonly<Record<string, RewardFunctionStatistics>>;
  /** Milliseconds from call to result, summed over batches. */
  readonly milliseconds: number;
}

/**
 * Scores whole episodes in batches. It is `rewardFunctions` with textpolicy's components, names and defaults.
 *
 *     reward = Σ_k weight_k · component_k + Σ_j weight_j · added_j,   with an external reward:
 *     reward ← 0.7 · external + 0.3 · reward
 *
 * A failure of one episode (no text, a function that throws, hangs or returns NaN, a server that does not answer) makes that episode's
 * reward `null` and is counted. No other episode is affected, and no number is made up.
 */
export class RolloutRewardProcessor implements RewardComputer {
  /** The config with its defaults. */
  readonly config: ResolvedRewardConfig;
  readonly #parts: ScoredPart<unknown, unknown>[];
  readonly #weights = new Map<string, number>();
  readonly #externalShare: number;
  readonly #clock: () => number;
  readonly #closing = new AbortController();
  readonly #failures = { unreadable: 0, threw: 0, 'timed-out': 0, 'not-finite': 0 };
  #episodes = 0;
  #unscorable = 0;
  #milliseconds = 0;

  constructor(config: RewardConfig = {}, dependencies: RewardDependencies = {}) {
    const { externalShare } = parseOptions('RolloutRewardProcessor', dependenciesSchema, dependencies);
    const { fluencyScorer, reference = referenceOf, clock = () => performance.now() } = dependencies;
    this.config = resolveRewardConfig(config);
    this.#clock = clock;
    this.#externalShare = externalShare;
    const external = externalPart(this.config, dependencies);
    const components = textComponents(this.config, reference);
    for (const { name, weight } of components) this.#weights.set(name, weight);
    this.#parts = components.map((component) => this.#componentPart(component, fluencyScorer));
    if (external !== undefined) this.#parts.push(external);
  }

  /**
   * Adds your own reward to the sum.
   *
   * @param name - Names it in components, failures and statistics.
   * @throws ArgumentError for a name that is taken, or for anything but a function. OptionsError for bad options.
   */
  addReward(name: string, reward: EpisodeReward, options: AddRewardOptions = {}): this {
    const { weight, timeoutMs } = parseOptions('addReward', addedSchema, options);
    const taken = [...new Set([...componentNames, 'external', 'episode', ...this.#weights.keys()])];
    if (name === '' || taken.includes(name)) {
      throw new ArgumentError(
        `addReward: expected a name that is not empty and none of ${taken.join(', ')}, got ${JSON.stringify(name)}`,
      );
    }
    requireArguments('addReward', { [name]: 'function' }, reward);
    const call: RewardFunction = (trajectory, context) => {
      const { prompt, response, metadata } = episodeOf(trajectory);
      return reward(prompt, response, { metadata, signal: context.signal });
    };
    this.#weights.set(name, weight);
    const concurrency = this.config.maxWorkers;
    this.#parts.push(scoredPart<unknown, unknown>({ name, reward: call, timeoutMs, concurrency }));
    return this;
  }

  /** Rewards of episodes, in order. Empty for none. Rejects with the signal's reason, or once closed. */
  async processEpisodeRewards(
    episodes: readonly RewardEpisode[],
    options: ProcessOptions = {},
  ): Promise<EpisodeRewards> {
    const { trajectories, scoresOf } = readEpisodes(episodes);
    const scores = scoresOf(await this.#score(trajectories, options));
    this.#count(scores);
    return EpisodeRewards.of(
      scores,
      this.#parts.map(({ name }) => name),
    );
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

  /** Rewards of everything in a buffer, in its order. See {@link episodesFromBuffer}. */
  async processBufferRewards(buffer: RewardBuffer, options: ProcessOptions = {}): Promise<EpisodeRewards> {
    return this.processEpisodeRewards(episodesFromBuffer(buffer), options);
  }

  /** Scores a group of trajectories, for training. A processor is a `RewardComputer`. */
  readonly computeRewards = async <Metadata>(
    { trajectories }: TrajectoryGroup<Metadata>,
    options: ProcessOptions = {},
  ): Promise<readonly ScoredTrajectory<Metadata>[]> => {
    const scored = await this.#score(trajectories, options);
    this.#count(scored);
    return scored;
  };

  /** Scores a stream `batchSize` episodes at a time and holds no more of it than that. Ends with the signal or `close`, also while the stream waits. */
  async *processEpisodeStream(
    episodes: Iterable<RewardEpisode> | AsyncIterable<RewardEpisode>,
    options: ProcessOptions = {},
  ): AsyncGenerator<{ readonly episodes: readonly RewardEpisode[]; readonly rewards: EpisodeRewards }> {
    let batch: RewardEpisode[] = [];
    for await (const episode of untilAborted(episodes, options.signal, this.#closing.signal)) {
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
    return {
      episodes: this.#episodes,
      unscorable: this.#unscorable,
      failures: { ...this.#failures },
      rewards: Object.fromEntries(this.#parts.map(({ name, tally }) => [name, tally.snapshot()])),
      milliseconds: this.#milliseconds,
    };
  }

  /** Ends calls in progress and refuses new ones. May be called again. */
  close(): void {
    const reason = 'RolloutRewardProcessor: closed while calls were under way; await them first';
    this.#closing.abort(new ArgumentError(reason));
  }

  /** {@link RolloutRewardProcessor.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  async #score<Metadata>(
    trajectories: readonly Trajectory<Metadata>[],
    { signal }: ProcessOptions,
  ): Promise<readonly ScoredTrajectory<Metadata>[]> {
    if (this.#closing.signal.aborted)
      throw new ArgumentError('RolloutRewardProcessor: it was closed; make a new one');
    signal?.throwIfAborted();
    const begun = this.#clock();
    const weightOf = (name: string) => this.#weights.get(name) ?? 0;
    const scored = await withSignals([this.#closing.signal, signal], (either) =>
      scoreTrajectories(this.#parts, trajectories, { weightOf, clock: this.#clock, signal: either }),
    );
    this.#milliseconds += this.#clock() - begun;
    return scored.map((one) => this.#blended(one as ScoredTrajectory<Metadata>));
  }

  /** With the external reward, if there is one. */
  #blended<Metadata>(scored: ScoredTrajectory<Metadata>): ScoredTrajectory<Metadata> {
    const { external } = scored.components;
    if (external === undefined) return scored;
    if (external === null || scored.reward === null) return { ...scored, reward: null };
    const failures = [...(scored.failures ?? [])];
    const share = this.#externalShare;
    const reward = withoutOverflow(share * external + (1 - share) * scored.reward, failures);
    return { ...scored, reward, ...(failures.length > 0 && { failures }) };
  }

  #count(scores: readonly EpisodeScore[]): void {
    this.#episodes += scores.length;
    for (const { reward, failures = [] } of scores) {
      if (reward === null) this.#unscorable += 1;
      for (const { cause } of failures) this.#failures[cause] += 1;
    }
  }

  #componentPart(
    component: WeightedComponent,
    fluencyScorer: FluencyScorer | undefined,
  ): ScoredPart<unknown, unknown> {
    const { name } = component;
    const limits = { name, timeoutMs: longestTimerMs, concurrency: Infinity };
    if (name !== 'fluency' || fluencyScorer === undefined) {
      return scoredPart<unknown, unknown>({ ...limits, reward: component.reward });
    }
    const ask = batchedFluency(fluencyScorer, this.config.batchSize);
    const reward: RewardFunction = (trajectory, { signal }) =>
      component.reward(trajectory) === 0 ? 0 : ask(episodeOf(trajectory), signal);
    return scoredPart<unknown, unknown>({ ...limits, reward });
  }
}

/** A {@link RolloutRewardProcessor}. */
export function createRolloutRewardProcessor(
  config: RewardConfig = {},
  dependencies: RewardDependencies = {},
): RolloutRewardProcessor {
  return new RolloutRewardProcessor(config, dependencies);
}
