import {
  ArgumentError,
  type Environment,
  onAbort,
  parseOptions,
  requireArguments,
  type State,
  type TaskSource,
  type Trajectory,
} from '@rlp/core';
import * as z from 'zod';
import type { RolloutDependencies } from './episode/group-context.ts';
import { rolloutSchema } from './options.ts';
import { RolloutManager } from './rollout-manager.ts';
import type { RolloutStatistics } from './statistics.ts';

/** Default group sizes. PPO and REINFORCE have a critic or a running baseline, so they compare no episodes with each other. */
const groupSizes = { ppo: 1, reinforce: 1, grpo: 8 } as const;

const schema = rolloutSchema
  .omit({ concurrency: true })
  .extend({
    /** Algorithm that decides the default of `groupSize`. Default `'ppo'`. */
    algorithm: z.enum(['ppo', 'reinforce', 'grpo']).default('ppo'),
    /** Trajectories sampled per task. Default 8 for `grpo`, otherwise 1. */
    groupSize: z.int().min(1).optional(),
    /** Groups that run at the same time. With 0 they run one after the other. Default 4. */
    numWorkers: z.int().min(0).default(4),
    /** Episodes per call of `collect`, rounded down to whole groups. Default 100. */
    maxEpisodes: z.int().min(1).default(100),
  })
  .transform((options) => ({ ...options, groupSize: options.groupSize ?? groupSizes[options.algorithm] }))
  .refine(({ groupSize, maxEpisodes }) => maxEpisodes >= groupSize, {
    path: ['maxEpisodes'],
    message: 'must hold a whole group: at least groupSize',
  });

/** A policy to collect with. */
export type RolloutPolicy = Pick<RolloutDependencies, 'sampler' | 'tokenizer' | 'chat'> & {
  /** Called when the coordinator closes. */
  readonly close?: (() => void | Promise<void>) | undefined;
};

/** Dependencies and options of {@link createRolloutCoordinator}. */
export interface RolloutCoordinatorOptions<S extends State = State, Metadata = unknown>
  extends z.input<typeof schema> {
  /** Makes the environment, which all workers share. Called once, by the first `collect`. */
  readonly environment: () => Environment<S, Metadata> | PromiseLike<Environment<S, Metadata>>;
  /** Required. Makes the policy. Called once, by the first `collect`. Its sampler batches the requests of all workers. */
  readonly policy: () => RolloutPolicy | PromiseLike<RolloutPolicy>;
  /** Source of the tasks. */
  readonly tasks: TaskSource<Metadata>;
}

/** Collects buffers of episodes. See {@link createRolloutCoordinator}. */
export interface RolloutCoordinator<Metadata = unknown> extends AsyncDisposable {
  /**
   * Collects the next buffer: whole groups in the order of their tasks. `processBuffer` of a reward system takes it.
   *
   * Failed episodes have status `failed`, or are left out, depending on `onFailure`. If `signal` fires or the coordinator closes, the call
   * resolves with what was collected, and unfinished episodes are `aborted`. It rejects with an `ArgumentError` once closed, and with the
   * error of a factory that fails. The next call tries the factory again.
   */
  collect(options?: { readonly signal?: AbortSignal | undefined }): Promise<readonly Trajectory<Metadata>[]>;
  /** Counts over all buffers, or `undefined` before the first. */
  getStatistics(): RolloutStatistics | undefined;
  /** Aborts running episodes and closes the policy. May be called again. */
  close(): Promise<void>;
}

/**
 * Makes an environment and a policy by factories, and collects buffers of episodes from them.
 *
 * @throws OptionsError naming every problem at once, ArgumentError for a factory that is not a function.
 */
export function createRolloutCoordinator<S extends State, Metadata>(
  options: RolloutCoordinatorOptions<S, Metadata>,
): RolloutCoordinator<Metadata> {
  requireArguments('createRolloutCoordinator', { options: 'object' }, options);
  const { environment, policy, tasks, ...others } = options;
  for (const [name, factory] of Object.entries({ environment, policy })) {
    if (typeof factory === 'function') continue;
    throw new ArgumentError(
      `createRolloutCoordinator: expected ${name} to be a function that makes one, got ${typeof factory}`,
    );
  }
  const resolved = parseOptions('createRolloutCoordinator', schema, others, 'RolloutCoordinatorOptions');
  return new Coordinator({ environment, policy, tasks }, resolved);
}

class Coordinator<S extends State, Metadata> implements RolloutCoordinator<Metadata> {
  readonly #parts: Parts<S, Metadata>;
  readonly #options: z.output<typeof schema>;
  readonly #closing = new AbortController();
  #policy: RolloutPolicy | undefined;
  #opening: Promise<RolloutManager<S, Metadata>> | undefined;
  #manager: RolloutManager<S, Metadata> | undefined;
  #closed: Promise<void> | undefined;

  constructor(parts: Parts<S, Metadata>, options: z.output<typeof schema>) {
    this.#parts = parts;
    this.#options = options;
  }

  async collect({ signal }: { readonly signal?: AbortSignal | undefined } = {}) {
    const stop = new AbortController();
    const signals = [this.#closing.signal, ...(signal === undefined ? [] : [signal])];
    const release = signals.map((from) => onAbort(from, () => stop.abort(from.reason)));
    try {
      const manager = await unlessAborted(this.#open(), stop.signal);
      if (manager === undefined) return [];
      const { groupSize, maxEpisodes } = this.#options;
      const minTrajectories = maxEpisodes - (maxEpisodes % groupSize);
      return await manager.collectRollouts({
        tasks: this.#parts.tasks,
        minTrajectories,
        signal: stop.signal,
      });
    } finally {
      for (const undo of release) undo();
    }
  }

  /** The manager, whose parts are made once. */
  #open(): Promise<RolloutManager<S, Metadata>> {
    if (this.#closing.signal.aborted) {
      throw new ArgumentError(
        'collect: the coordinator is closed: make another with createRolloutCoordinator',
      );
    }
    this.#opening ??= this.#make().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #make(): Promise<RolloutManager<S, Metadata>> {
    const { algorithm: _, numWorkers, maxEpisodes: __, ...options } = this.#options;
    const environment = await this.#parts.environment();
    this.#policy ??= await this.#parts.policy();
    const { sampler, tokenizer, chat } = this.#policy;
    const concurrency = Math.max(1, numWorkers);
    this.#manager = new RolloutManager(
      { environment, sampler, tokenizer, chat },
      { ...options, concurrency },
    );
    return this.#manager;
  }

  getStatistics(): RolloutStatistics | undefined {
    return this.#manager?.getStatistics();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort(new Error('the coordinator was closed; create another one'));
    await this.#opening?.catch(() => undefined);
    await this.#policy?.close?.();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Result of `work`, or `undefined` if the signal fires first. */
function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const release = onAbort(signal, () => resolve(undefined));
    work.then(resolve, reject).finally(release);
  });
}

type Parts<S extends State, Metadata> = Pick<
  RolloutCoordinatorOptions<S, Metadata>,
  'environment' | 'policy' | 'tasks'
>;
