import {
  ArgumentError,
  abortSignal,
  type CriticBackend,
  callback,
  described,
  having,
  isPromiseLike,
  isRecord,
  lostCharacters,
  type Metrics,
  type MetricsLogger,
  OptionsError,
  parseOptions,
  requireFields,
  type State,
} from '@rlp/core';
import { RolloutManager } from '@rlp/rollout';
import * as z from 'zod';
import { collectorSchema } from '../loop/dependencies.ts';
import { groupRelativeEstimator } from '../loop/estimate.ts';
import { NoteTally } from '../loop/notes.ts';
import { rlSchema } from '../loop/options.ts';
import { requireCritic } from '../loop/preflight.ts';
import type {
  AdvantageEstimator,
  GroupCollector,
  RlDependencies,
  RlReport,
  RlState,
} from '../loop/protocol.ts';
import { runRlTraining } from '../loop/rl.ts';
import {
  type AlgorithmDependencies,
  type CollectedDependencies,
  collectedSchema,
  dependencySchema,
  hasOwnCollector,
  type PolicyDependencies,
  requireOnePolicy,
} from './dependencies.ts';
import { type AlgorithmOptions, algorithmSchema, groupSchema } from './options.ts';
import { bothLoggers, linePrinter } from './progress-lines.ts';

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
  /** Iterations of the whole run. One that resumes makes what is left of them. Default 100. */
  readonly iterations?: number | undefined;
  /** Shows the progress of the run. Default none. */
  readonly progressBar?: ProgressBar | undefined;
  /**
   * Where `train` prints one line per iteration and every note: `'console'`, `'none'`, or a function that takes a line.
   * Default `'console'`, and `'none'` with a `progressBar` or a logger that shows the run on the console by itself.
   */
  readonly print?: 'console' | 'none' | ((line: string) => void) | undefined;
  /** Ends the run after the step under way. `train` then resolves with what it has. */
  readonly signal?: AbortSignal | undefined;
  /** Continues after this state. Load the backend's checkpoint first. */
  readonly resume?: RlState | undefined;
}

/** How long to run, from where. */
export interface RunOptions extends Pick<TrainOptions, 'iterations' | 'signal' | 'resume'> {
  /** See `RlDependencies`. */
  readonly onInterrupted?: RlDependencies['onInterrupted'];
}

/** What {@link PolicyAlgorithm.train} resolves with. */
export interface TrainResult {
  /** Metrics of every iteration made, in order. */
  readonly history: readonly Metrics[];
  /**
   * What a person should know of the run, such as "8 of 64 trajectories failed". Notes of one kind are counted: the first of them
   * ends with "(17 times)". At most 100 kinds.
   */
  readonly notes: readonly string[];
  /**
   * Where the run stands. If the signal interrupted an iteration, with the episodes that were under way. Absent if the run began nothing.
   */
  readonly state: RlState | undefined;
}

/** What makes an algorithm of the loop. */
export interface AlgorithmPlan<Metadata = unknown> {
  /** Begins its error messages. */
  readonly name: string;
  /** The interface of its options, which error messages name. Default `'AlgorithmOptions'`. */
  readonly optionsType?: string | undefined;
  /** The interface of its dependencies, which error messages name. Default `'AlgorithmDependencies'`. */
  readonly dependenciesType?: string | undefined;
  /**
   * Checks the options: `algorithmSchema`, extended by what the algorithm adds. With `comparingGroups` it refuses groups of one. Default
   * `algorithmSchema`, which refuses them without an `estimator`.
   */
  readonly schema?: z.ZodObject | undefined;
  /** Checks the dependencies: `dependencySchema`, extended by what the algorithm adds. Default `dependencySchema`. */
  readonly dependencySchema?: z.ZodObject | undefined;
  /** The same for an algorithm that is given its collector. Default `collectedSchema`. */
  readonly collectedSchema?: z.ZodObject | undefined;
  /** Makes the estimator. Called once the options are valid. Default: advantages relative to the group, by the options' `advantage`. */
  readonly estimator?: (() => AdvantageEstimator<Metadata>) | undefined;
  readonly critic?: CriticBackend | undefined;
  /** The caller's options, over those of a preset, over the algorithm's own. See `layered`. */
  readonly options: AlgorithmOptions;
}

/** @throws OptionsError naming every problem of the options and the dependencies. */
function requireValid<Metadata>(dependencies: object, plan: AlgorithmPlan<Metadata>): void {
  const { name, optionsType = 'AlgorithmOptions', estimator, options } = plan;
  const { schema = estimator ? algorithmSchema : groupSchema } = plan;
  const needed = isCollected(dependencies)
    ? (plan.collectedSchema ?? collectedSchema)
    : (plan.dependencySchema ?? dependencySchema);
  const all = schema.safeExtend({ dependencies: needed });
  try {
    parseOptions(name, all, { ...options, dependencies }, optionsType);
  } catch (error) {
    throw error instanceof OptionsError ? ofDependencies(dependencies, plan, error) : error;
  }
  requireCritic(name, options.critic, plan.critic);
}

/** The error itself, or one that names the interface of the dependencies if only they are invalid. */
function ofDependencies<Metadata>(
  dependencies: object,
  { name, dependenciesType = 'AlgorithmDependencies' }: AlgorithmPlan<Metadata>,
  error: OptionsError,
): OptionsError {
  if (error.issues.some((issue) => !issue.startsWith('dependencies'))) return error;
  if (isCollected(dependencies)) return new OptionsError(name, error.issues, 'CollectedDependencies');
  const isAbsent = isRecord(dependencies) && !('environment' in dependencies);
  const other =
    'dependencies: or pass `rollouts`, a collector of groups, instead of environment and tokenizer';
  return new OptionsError(name, [...error.issues, ...(isAbsent ? [other] : [])], dependenciesType);
}

/** @throws ArgumentError for groups that the algorithm cannot learn from. */
function requireGroupsOf<Metadata>(
  { options: { groupSize } }: Pick<GroupCollector, 'options'>,
  dependencies: object,
  plan: AlgorithmPlan<Metadata>,
): void {
  const { name, options } = plan;
  try {
    requireValid(dependencies, { ...plan, options: { ...options, rollout: { groupSize } } });
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    throw new ArgumentError(
      `${name}: \`rollouts\` makes groups of ${groupSize}; ${error.issues.join('; ').replace('rollout.groupSize: ', 'groupSize ')}`,
      { cause: error },
    );
  }
}

/** The options that `runRlTraining` reads. */
function optionsOfLoop(options: AlgorithmOptions): Omit<AlgorithmOptions, 'rollout' | 'groupFilter'> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => name in rlSchema.shape));
}

/** Takes lines: the console is the edge where they leave the library. */
function printer(print: NonNullable<TrainOptions['print']>): ((line: string) => void) | undefined {
  if (typeof print === 'function') return print;
  return print === 'none' ? undefined : (line) => console.info(line);
}

/** Tasks whose characters are checked before a run. */
const tasksLookedAt = 256;

const runSchema = z.strictObject({
  iterations: z.int().min(1).default(100),
  signal: abortSignal.optional(),
  resume: z
    .preprocess(
      (given, context) => {
        if (!isPromiseLike(given) && !(isRecord(given) && isRecord(given.state))) return given;
        const remedy = isPromiseLike(given) ? 'await loadRun' : 'pass the `state` of the report';
        context.addIssue({ code: 'custom', message: `expected a state, got ${described(given)}; ${remedy}` });
        return z.NEVER;
      },
      z.looseObject({ iteration: z.int().min(0), taskCursor: z.int().min(0) }),
    )
    .optional(),
  onInterrupted: callback<NonNullable<RunOptions['onInterrupted']>>().optional(),
});
const trainSchema = runSchema.omit({ onInterrupted: true }).extend({
  progressBar: having<ProgressBar>('update', 'a progress bar').optional(),
  print: z
    .union([z.enum(['console', 'none']), callback<(line: string) => void>()], {
      error: "expected 'console', 'none' or a function",
    })
    .optional(),
});

function isCollected<S extends State, Metadata, Outcome>(
  dependencies: PolicyDependencies<S, Metadata, Outcome> | object,
): dependencies is CollectedDependencies<Metadata, Outcome> {
  return typeof dependencies === 'object' && dependencies !== null && 'rollouts' in dependencies;
}

function managerOf<S extends State, Metadata, Outcome>(
  { environment, sampler, tokenizer, chat, clock, onEvent }: AlgorithmDependencies<S, Metadata, Outcome>,
  options: AlgorithmOptions['rollout'],
): RolloutManager<S, Metadata, Outcome> {
  return new RolloutManager({ environment, sampler, tokenizer, chat, clock, onEvent }, options);
}

function collectorOf<Metadata, Outcome>(
  name: string,
  { rollouts }: CollectedDependencies<Metadata, Outcome>,
  options: AlgorithmOptions['rollout'] = {},
): GroupCollector<Metadata, Outcome> {
  if (typeof rollouts !== 'function') return rollouts;
  const made = rollouts(options);
  const problem = collectorSchema.safeParse(made).error?.issues[0];
  if (problem === undefined) return made;
  throw new ArgumentError(
    `${name}: \`rollouts\` returned ${described(made)}; a collector of groups ${problem.message}`,
  );
}

/** Collects one greedy trajectory per task. */
function greedyOf<S extends State, Metadata, Outcome>(
  name: string,
  dependencies: PolicyDependencies<S, Metadata, Outcome>,
  rollout: AlgorithmOptions['rollout'],
): RolloutManager<S, Metadata, Outcome> {
  if (isCollected(dependencies)) {
    throw new ArgumentError(
      `${name}: this estimator compares with greedy rollouts, which \`rollouts\` does not make; pass \`environment\`, or call runRlTraining with \`greedyRollouts\``,
    );
  }
  const sampling = { ...rollout?.sampling, temperature: 0 };
  return managerOf({ ...dependencies, onEvent: undefined }, { ...rollout, groupSize: 1, sampling });
}

/** What every algorithm is: rollouts, an estimator and options for `runRlTraining`. */
export abstract class PolicyAlgorithm<S extends State = State, Metadata = unknown, Outcome = unknown> {
  readonly #collector: GroupCollector<Metadata, Outcome>;
  readonly #manager: RolloutManager<S, Metadata, Outcome> | undefined;
  readonly #dependencies: PolicyDependencies<S, Metadata, Outcome>;
  readonly #plan: AlgorithmPlan<Metadata>;
  readonly #estimator: AdvantageEstimator<Metadata>;
  readonly #greedyRollouts: GroupCollector<Metadata, Outcome> | undefined;
  #state: 'idle' | 'training' = 'idle';

  /** @throws OptionsError for wrong options or dependencies, ArgumentError for a sampler that cannot follow. */
  protected constructor(
    dependencies: PolicyDependencies<S, Metadata, Outcome>,
    plan: AlgorithmPlan<Metadata>,
  ) {
    requireFields('PolicyAlgorithm', { name: 'text', options: 'given' }, plan);
    const { name, estimator, options } = plan;
    requireFields(name, {}, options);
    if (hasOwnCollector(dependencies) && options.rollout !== undefined) {
      throw new ArgumentError(
        `${name}: \`rollout\` has no effect on \`rollouts\`; give its options to that collector`,
      );
    }
    requireValid(dependencies, plan);
    requireOnePolicy(name, dependencies);
    const { seed } = options;
    const rollout =
      seed === undefined ? options.rollout : { ...options.rollout, seed: options.rollout?.seed ?? seed };
    this.#estimator = estimator?.() ?? groupRelativeEstimator(options.advantage);
    this.#manager = isCollected(dependencies) ? undefined : managerOf(dependencies, rollout);
    this.#collector = isCollected(dependencies) ? collectorOf(name, dependencies, rollout) : this.#manager!;
    if (isCollected(dependencies)) requireGroupsOf(this.#collector, dependencies, plan);
    if (typeof this.#estimator !== 'function' && this.#estimator.needs?.includes('greedyRewards')) {
      this.#greedyRollouts = greedyOf(name, dependencies, rollout);
    }
    this.#dependencies = dependencies;
    this.#plan = plan;
  }

  /**
   * Collects the groups. Its statistics count failures.
   *
   * @throws ArgumentError for an algorithm that was given its collector.
   */
  get rollouts(): RolloutManager<S, Metadata, Outcome> {
    if (this.#manager !== undefined) return this.#manager;
    throw new ArgumentError(
      `${this.#plan.name}: groups come from the \`rollouts\` that it was given; ask those`,
    );
  }

  /** The run as a generator: one report per iteration, for callers that evaluate, save or stop in between. */
  run(options: RunOptions = {}): AsyncGenerator<RlReport<Metadata>, void, undefined> {
    return this.#iterations(options, this.#dependencies.logger);
  }

  async *#iterations(
    given: RunOptions,
    logger: MetricsLogger | undefined,
  ): AsyncGenerator<RlReport<Metadata>, void, undefined> {
    const { tasks, rewards, backend, loss, monitor, interventions, clock, sleep, publications } =
      this.#dependencies;
    const { sampler: inference } = this.#dependencies;
    const { critic, options } = this.#plan;
    const { groupFilter } = options;
    const advantages = this.#estimator;
    const { iterations } = parseOptions(this.#plan.name, runSchema, given, 'RunOptions');
    const { signal, resume, onInterrupted } = given;
    const rollouts = this.#collector;
    const greedyRollouts = this.#greedyRollouts;
    const made = { rollouts, greedyRollouts, critic, advantages, inference, groupFilter };
    const notes = resume === undefined ? this.#checkCharacters() : [];
    for (const note of notes) logger?.note?.(0, note);
    for await (const report of runRlTraining<Metadata, Outcome>(
      {
        ...{ ...made, tasks, rewards, backend, publications, loss, monitor, interventions },
        ...{ logger, clock, sleep, signal, onInterrupted },
      },
      { ...optionsOfLoop(options), iterations, resume },
    )) {
      yield { ...report, notes: [...notes.splice(0), ...report.notes] };
    }
  }

  /** What the tokenizer loses of the first tasks. @throws ArgumentError if nothing is left of a prompt. */
  #checkCharacters(): string[] {
    if (isCollected(this.#dependencies)) return [];
    const { tasks, tokenizer } = this.#dependencies;
    const { cursor } = tasks;
    const { note, whole } = lostCharacters(tasks.take(tasksLookedAt), tokenizer);
    tasks.seek(cursor);
    const { name, options } = this.#plan;
    if (whole !== undefined && options.failureBudget?.whenSpent !== 'continue') {
      throw new ArgumentError(
        `${name}: nothing is left of the prompt of task ${JSON.stringify(whole.id)}: ${note}`,
      );
    }
    return note === undefined ? [] : [note];
  }

  /**
   * Trains to the end of the run, or until the signal.
   *
   * @throws ArgumentError while an earlier call still trains; what {@link runRlTraining} throws.
   */
  async train(options: TrainOptions = {}): Promise<TrainResult> {
    const { iterations: total } = parseOptions(this.#plan.name, trainSchema, options, 'TrainOptions');
    const { progressBar, print, iterations: _, ...others } = options;
    if (this.#state === 'training') {
      throw new ArgumentError(
        `${this.#plan.name}: an earlier call of train is not over, and both would learn into the same weights; await it first`,
      );
    }
    const { logger: own, monitor } = this.#dependencies;
    const isShown = progressBar !== undefined || own?.shows === 'console';
    const chosen = print ?? (isShown ? 'none' : 'console');
    const printed = printer(chosen);
    const showsFindings = chosen === 'console' && (own?.shows ?? monitor?.shows) !== undefined;
    const lines = printed && linePrinter(printed, total, showsFindings ? 'shown elsewhere' : 'printed');
    const logger = lines === undefined ? own : bothLoggers(lines, own);
    this.#state = 'training';
    const history: Metrics[] = [];
    const tally = new NoteTally();
    let state = others.resume;
    try {
      for await (const { iteration, metrics, notes, state: reached } of this.#iterations(
        { ...others, iterations: total, onInterrupted: (interrupted) => (state = interrupted) },
        logger,
      )) {
        history.push(metrics);
        state = reached;
        for (const note of notes) tally.add(note);
        progressBar?.update({ done: iteration + 1, total, metrics, notes });
      }
    } finally {
      this.#state = 'idle';
      progressBar?.stop();
    }
    return { history, notes: tally.list(), state };
  }
}
