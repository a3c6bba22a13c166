import {
  ArgumentError,
  type CriticBackend,
  choosePublication,
  type Environment,
  type InferenceEngine,
  type Loss,
  type Metrics,
  type MetricsLogger,
  type Monitor,
  parseOptions,
  type RewardsFor,
  type Sampler,
  type State,
  type TaskSource,
  type Tokenizer,
  type TrainingBackend,
} from '@rlp/core';
import { type Encoding, RolloutManager, type RolloutOptions, rolloutSchema } from '@rlp/rollout';
import * as z from 'zod';
import { type RlOptions, rlSchema } from '../loop/options.ts';
import type {
  AdvantageEstimator,
  GroupCollector,
  GroupFilter,
  InterventionHandlers,
  RlReport,
  RlState,
} from '../loop/protocol.ts';
import { runRlTraining } from '../loop/rl.ts';
import { resolvePolicyLoss } from '../loss/policy-loss-options.ts';
import { progressLines } from './progress-lines.ts';

/** What an algorithm works with. It creates none of it and closes none of it. */
export interface AlgorithmDependencies<S extends State = State, Metadata = unknown, Outcome = unknown>
  extends Encoding {
  /** The world that the policy acts in. */
  readonly environment: Environment<S, NoInfer<Metadata>, Outcome>;
  /** Source of the tasks. */
  readonly tasks: TaskSource<Metadata>;
  /** The policy that is sampled from, and that takes over the weights of `backend`. */
  readonly sampler: Sampler & InferenceEngine;
  /** Trains the policy. */
  readonly backend: TrainingBackend;
  /** Directory for weights that are published as files, if trainer and sampler share no store. Both must reach it. */
  readonly publications?: string | undefined;
  /** Scores trajectories. Reads the metadata of `tasks` and the outcome of `environment`. */
  readonly rewards: RewardsFor<NoInfer<Metadata>, NoInfer<Outcome>>;
  /** The policy's loss, one of your own; see `RlDependencies`. Default: what the algorithm's options describe. */
  readonly loss?: Loss | undefined;
  /** Sees every batch before it is learned from, such as a `RewardQualityMonitor`; what it asks for is done. */
  readonly monitor?: Monitor<NoInfer<Metadata>> | undefined;
  /** Does what a monitor can ask for and the loop cannot do by itself. */
  readonly interventions?: InterventionHandlers | undefined;
  /** Gets every iteration's metrics, notes, findings and some samples, before its report is yielded. */
  readonly logger?: MetricsLogger | undefined;
  /** Milliseconds from any origin, such as `() => performance.now()`. */
  readonly clock?: (() => number) | undefined;
}

/** Options that all algorithms have: those of `runRlTraining`, and what is said here. */
export interface AlgorithmOptions extends Omit<RlOptions, 'iterations'> {
  /** Groups of 8; see `RolloutManager`. */
  readonly rollout?: RolloutOptions | undefined;
  /** Groups that it turns down are replaced by groups of further tasks; `groupFilters` has some. Default: none are. */
  readonly groupFilter?: GroupFilter | undefined;
}

/** Something that shows how far a run is. */
export interface ProgressBar {
  /** Called after every iteration. */
  update(progress: {
    readonly done: number;
    readonly total: number;
    readonly metrics: Metrics;
    /** What a person should know, such as that trajectories failed. */
    readonly notes: readonly string[];
  }): void;
  /** Called once, however the run ends. */
  stop(): void;
}

/** How long to train, and who watches. */
export interface TrainOptions {
  /** Iterations of the whole run; one that resumes makes what is left of them. Default 100. */
  readonly iterations?: number | undefined;
  /** Shows the progress of the run. Default: none. */
  readonly progressBar?: ProgressBar | undefined;
  /**
   * Where `train` prints one line per iteration and every note: `'console'`, `'none'`, or a function that takes a line.
   * Default `'console'`, and `'none'` with a `progressBar`.
   */
  readonly print?: 'console' | 'none' | ((line: string) => void) | undefined;
  /** Ends the run after the step under way; `train` then resolves with what it has. */
  readonly signal?: AbortSignal | undefined;
  /** Continues after this state; load the backend's checkpoint first. */
  readonly resume?: RlState | undefined;
}

/** What {@link PolicyAlgorithm.train} resolves with. */
export interface TrainResult {
  /** Metrics of every iteration made, in order. */
  readonly history: readonly Metrics[];
  /** What a person should know of the last iteration, such as "8 of 64 trajectories failed". */
  readonly notes: readonly string[];
  /** Where the run stands; absent if it made no iteration. */
  readonly state: RlState | undefined;
}

/** What makes an algorithm of the loop. */
export interface AlgorithmPlan<Metadata = unknown> {
  /** Begins its error messages. */
  readonly name: string;
  /** The interface of its options, which error messages name. Default `'AlgorithmOptions'`. */
  readonly optionsType?: string | undefined;
  readonly estimator: AdvantageEstimator<Metadata>;
  readonly critic?: CriticBackend | undefined;
  /** Whether a group of one teaches anything. */
  readonly groups: 'any-size' | 'at-least-two';
  /** What the caller gave over a preset over the algorithm's own. */
  readonly options: AlgorithmOptions;
}

/** What an algorithm cannot do without: a method that it calls of each, and what makes one. */
const needed = {
  environment: ['reset', 'an environment'],
  tasks: ['take', 'a task source; taskSource(tasks) of @rlp/env makes one of an array'],
  sampler: ['sample', 'a sampler'],
  backend: ['forwardBackward', 'a training backend'],
  rewards: [
    'computeRewards',
    'a reward computer; rewardFunctions({ … }) of @rlp/rewards makes one of functions',
  ],
  tokenizer: ['encode', 'a tokenizer'],
} as const satisfies Partial<Record<keyof AlgorithmDependencies, readonly [method: string, what: string]>>;

/** @throws ArgumentError naming everything that is missing, is something else, or belongs elsewhere. */
function requireDependencies(name: string, dependencies: object): void {
  const given = dependencies as Readonly<Record<string, unknown>>;
  const missing = Object.keys(needed).filter((dependency) => given[dependency] === undefined);
  if (missing.length > 0) throw new ArgumentError(`${name}: expected also ${missing.join(', ')}`);
  const problems = Object.entries(needed).flatMap(([dependency, [method, what]]) => {
    const found = given[dependency] as Readonly<Record<string, unknown>> | null;
    return typeof found?.[method] === 'function' ? [] : [`\`${dependency}\` must be ${what}`];
  });
  if (given.advantages !== undefined) {
    problems.push('`advantages` among the dependencies is not read; it is an option, in the second argument');
  }
  if (problems.length > 0) throw new ArgumentError(`${name}: ${problems.join('; ')}`);
}

/** Unused rows that a model's embedding may have beyond its tokenizer, to fill it up to a round number. */
const fillUp = 128;

/** @throws ArgumentError unless backend, sampler and tokenizer are of one model, and the weights can reach the sampler. */
function requireOnePolicy(
  name: string,
  {
    backend,
    sampler,
    tokenizer,
    publications,
  }: Pick<AlgorithmDependencies, 'backend' | 'sampler' | 'tokenizer' | 'publications'>,
): void {
  try {
    choosePublication(backend, sampler, publications);
  } catch (cause) {
    if (!(cause instanceof ArgumentError)) throw cause;
    throw new ArgumentError(`${name}: ${cause.message}`, { cause });
  }
  const own = tokenizer.vocabularySize;
  const samplers = (sampler as { readonly tokenizer?: Tokenizer | undefined }).tokenizer?.vocabularySize;
  if (samplers !== undefined && samplers !== own) {
    throw new ArgumentError(
      `${name}: \`tokenizer\` has ${own} tokens and the sampler's has ${samplers}; pass the sampler's tokenizer`,
    );
  }
  const known = backend.vocabularySize ?? sampler.vocabularySize;
  if (known === undefined || (own <= known && known <= Math.max(2 * own, own + fillUp))) return;
  throw new ArgumentError(
    `${name}: \`tokenizer\` has ${own} tokens and the model ${known}; pass the tokenizer of this model`,
  );
}

/** Takes lines: the console is the edge where they leave the library. */
function printer(print: NonNullable<TrainOptions['print']>): (line: string) => void {
  if (typeof print === 'function') return print;
  return print === 'none' ? () => undefined : (line) => console.info(line);
}

/** What is checked of {@link AlgorithmOptions}, all in one error. */
const algorithmSchema = rlSchema.safeExtend({
  rollout: rolloutSchema.prefault({}),
  groupFilter: z.custom<GroupFilter>((value) => typeof value === 'function', 'must be a function').optional(),
});

const runSchema = z.strictObject({ iterations: z.int().min(1).default(100) });

/** What every algorithm is: rollouts, an estimator and options for `runRlTraining`. */
export abstract class PolicyAlgorithm<S extends State = State, Metadata = unknown, Outcome = unknown> {
  /** What collects the groups; its statistics tell of failures. */
  readonly rollouts: RolloutManager<S, Metadata, Outcome>;
  readonly #dependencies: AlgorithmDependencies<S, Metadata, Outcome>;
  readonly #plan: AlgorithmPlan<Metadata>;
  readonly #greedyRollouts: GroupCollector<Metadata, Outcome> | undefined;
  #state: 'idle' | 'training' = 'idle';

  /** @throws OptionsError for options outside their ranges, ArgumentError for something missing and for groups of one. */
  protected constructor(
    dependencies: AlgorithmDependencies<S, Metadata, Outcome>,
    plan: AlgorithmPlan<Metadata>,
  ) {
    const { name, optionsType = 'AlgorithmOptions', estimator, groups, options } = plan;
    const { rollout } = options;
    resolvePolicyLoss(parseOptions(name, algorithmSchema, options, optionsType).loss);
    requireDependencies(name, dependencies);
    requireOnePolicy(name, dependencies);
    const { environment, sampler, tokenizer, chat, clock } = dependencies;
    const rolling = { environment, sampler, tokenizer, chat, clock };
    this.rollouts = new RolloutManager(rolling, rollout);
    if (groups === 'at-least-two' && this.rollouts.options.groupSize < 2) {
      throw new ArgumentError(
        `${name}: rollout.groupSize must be at least 2: a completion alone in its group has advantage 0 and teaches nothing`,
      );
    }
    const isGreedy = typeof estimator !== 'function' && estimator.needs?.includes('greedyRewards');
    this.#greedyRollouts = isGreedy
      ? new RolloutManager(rolling, {
          ...rollout,
          groupSize: 1,
          sampling: { ...rollout?.sampling, temperature: 0 },
        })
      : undefined;
    this.#dependencies = dependencies;
    this.#plan = plan;
  }

  /** The run as a generator: one report per iteration, for callers that evaluate, save or stop in between. */
  async *run({
    iterations: given,
    signal,
    resume,
  }: Omit<TrainOptions, 'progressBar' | 'print'> = {}): AsyncGenerator<RlReport<Metadata>, void, undefined> {
    const { tasks, rewards, backend, loss, monitor, interventions, clock, logger, publications } =
      this.#dependencies;
    const { sampler: inference } = this.#dependencies;
    const { estimator: advantages, critic, options } = this.#plan;
    const { rollout: _, groupFilter, ...own } = options;
    const { iterations } = parseOptions(this.#plan.name, runSchema, { iterations: given });
    const { rollouts } = this;
    const greedyRollouts = this.#greedyRollouts;
    const made = { rollouts, greedyRollouts, critic, advantages, inference, groupFilter };
    yield* runRlTraining<Metadata, Outcome>(
      { ...made, tasks, rewards, backend, publications, loss, monitor, interventions, logger, clock, signal },
      { ...own, iterations, resume },
    );
  }

  /**
   * Trains to the end of the run, or until the signal.
   *
   * @throws ArgumentError while an earlier call still trains; what {@link runRlTraining} throws.
   */
  async train({ progressBar, print, iterations, ...options }: TrainOptions = {}): Promise<TrainResult> {
    if (this.#state === 'training') {
      throw new ArgumentError(
        `${this.#plan.name}: an earlier call of train is not over, and both would learn into the same weights; await it first`,
      );
    }
    const { iterations: total } = parseOptions(this.#plan.name, runSchema, { iterations });
    const printed = printer(print ?? (progressBar ? 'none' : 'console'));
    this.#state = 'training';
    const history: Metrics[] = [];
    let notes: readonly string[] = [];
    let state = options.resume;
    try {
      for await (const report of this.run({ ...options, iterations: total })) {
        history.push(report.metrics);
        state = report.state;
        notes = report.notes;
        for (const line of progressLines(report, total)) printed(line);
        progressBar?.update({ done: report.iteration + 1, total, metrics: report.metrics, notes });
      }
    } finally {
      this.#state = 'idle';
      progressBar?.stop();
    }
    return { history, notes, state };
  }
}
