import {
  type ChatRenderer,
  callback,
  type RewardsFor,
  type RolloutSink,
  type Step,
  type Task,
  timerMs,
} from '@rlp/core';
import { rolloutSchema } from '@rlp/rollout';
import * as z from 'zod';
import type { ServedPolicy } from '../served-policy.ts';

const object = <Type>(description: string, member: string) =>
  z.custom<Type>((value) => value !== null && typeof value === 'object' && member in value, {
    message: `must be ${description}`,
  });

/** Schema of {@link CaptureOptions}. */
export const captureSchema = rolloutSchema
  .pick({
    ...{ seed: true, groupSize: true, maxTurns: true, sampling: true, contextLength: true },
    ...{ history: true, samplerTimeoutMs: true },
  })
  .extend({
    /** Policy that answers the agent, such as the result of `createOnnxSampler`. It stays open. Required. */
    policy: object<ServedPolicy>('a policy with a tokenizer', 'tokenizer'),
    /** Runs your agent on a task. What it returns is the outcome of the trajectory, as plain data. Required. */
    run: callback<RunAgent<never, unknown>>(),
    /** Scores trajectories for `score`, and is handed on as `rewards`. Default none. */
    rewards: z
      .custom<RewardsFor<never, never>>(
        (value) =>
          value !== null &&
          ['object', 'function'].includes(typeof value) &&
          'computeRewards' in (value as object),
        'must be a reward computer; rewardFunctions({ … }) of @rlp/rewards makes one of functions',
      )
      .optional(),
    /** Names the state that a step answers, such as by its `observation`. GiGPO compares steps of one name. If it throws or returns no text, the episode fails. Default: no names. */
    stateKey: callback<(step: Step) => string>().optional(),
    /** Renders conversations. Default: the chat format of the policy. */
    chat: object<ChatRenderer>('a chat renderer', 'render').optional(),
    /** Name of the model in requests. Other names are answered too. Default `'policy'`. */
    model: z.string().min(1).default('policy'),
    /** Agents that run at the same time. Default 64. */
    concurrentEpisodes: z.int().min(1).default(64),
    /** Milliseconds that an agent may take. One that takes longer is stopped and `truncated`. Default 300,000. */
    agentTimeoutMs: timerMs.default(300_000),
    /** `'fetch'` opens no port: the agent has to use the given `fetch`. Default `'http'`. */
    transport: z.enum(['http', 'fetch']).default('http'),
    /** Address to listen on. Default `'127.0.0.1'`, this machine only. */
    host: z.string().min(1).default('127.0.0.1'),
    /** Name or address under which agents reach `host`, for `baseURL`. Default `host`, and this machine if `host` is every address. */
    hostName: z
      .string()
      .regex(/^[\w.:-]+$/, 'must be a name or an address, without http:// and port')
      .optional(),
    /** Port to listen on. Default 0, any free port. */
    port: z.int().min(0).max(65_535).default(0),
    /** Maximum bytes of a request. Default 16,777,216. */
    maxBodyBytes: z.int().positive().default(16_777_216),
    /** Milliseconds from any origin, for the times of steps. Default none: steps have no times. */
    clock: callback<() => number>().optional(),
    /** Takes the events of all episodes, such as `debugLogger` of `@rlp/rollout`: a function or several. Default nobody. */
    onEvent: z
      .custom<RolloutSink | readonly RolloutSink[]>(
        (value) => [value].flat().every((sink) => typeof sink === 'function'),
        'must be a function, or a list of functions',
      )
      .optional(),
  });

/** What an agent is given to reach the policy. */
export interface AgentConnection {
  /** Base URL for clients of OpenAI's API. Clients of Anthropic's take it without `/v1`. */
  readonly baseURL: string;
  /** Key of this episode. */
  readonly apiKey: string;
  /** Name of the model. */
  readonly model: string;
  /** Answers requests to `baseURL` without a socket. */
  readonly fetch: typeof globalThis.fetch;
  /** Aborts when the episode is over. */
  readonly signal: AbortSignal;
  /** The group and the place in it, such as to name a sandbox. */
  readonly group: { readonly id: string; readonly member: number };
}

/** Runs an agent on a task. */
export type RunAgent<Metadata = unknown, Outcome = unknown> = (
  task: Task<Metadata>,
  connection: AgentConnection,
) => Outcome | Promise<Outcome>;

/** Options of {@link captureRollouts}. */
export interface CaptureOptions<Metadata = unknown, Outcome = unknown>
  extends Omit<z.input<typeof captureSchema>, 'run' | 'rewards'> {
  /**
   * Runs your agent on a task. What it returns is the outcome of the trajectory, as plain data: an `Error` becomes `{ name, message }`. What
   * JSON cannot hold, such as a `Map`, is left out with a note.
   */
  readonly run: RunAgent<Metadata, Outcome>;
  /** Scores trajectories for `score`, and is handed on as `rewards`. Default none. */
  readonly rewards?: RewardsFor<Metadata, Outcome> | undefined;
}

/** What a capture reads. Every field with a default is present. */
export type ResolvedCaptureOptions = z.output<typeof captureSchema>;
