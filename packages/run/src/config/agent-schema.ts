import { captureSchema, type RunAgent } from '@rlp/serve/capture';
import * as z from 'zod';

const functionSchema = z.custom<RunAgent<never>>(
  (value) => typeof value === 'function',
  'expected a function that runs your agent on a task',
);

const describedSchema = captureSchema
  .pick({
    ...{ agentTimeoutMs: true, stateKey: true, model: true, transport: true },
    ...{ host: true, port: true, maxBodyBytes: true },
  })
  .extend({
    /** Runs your agent on a task. What it returns is the outcome of the trajectory. Required. */
    run: functionSchema,
  });

/** An agent with options. */
export interface RunAgentOptions<Metadata = unknown, Outcome = unknown>
  extends Omit<z.input<typeof describedSchema>, 'run'> {
  /** Runs your agent on a task. What it returns is the outcome of the trajectory. Required. */
  readonly run: RunAgent<Metadata, Outcome>;
}

/** Schema of the agent of a run: a function, or one with options. */
export const agentSchema = z.union([functionSchema, describedSchema]);

/** Options of `algorithm.rollout` that an agent's run follows. The others are of environments. */
export const agentRollout = [
  ...['seed', 'groupSize', 'concurrentEpisodes', 'maxTurns', 'sampling', 'contextLength', 'history'],
  'samplerTimeoutMs',
] as const;
