import * as z from 'zod';
import { type Message, messageSchema } from './message.ts';
import { requireFields } from './options/require-arguments.ts';
import type { Action } from './step-data.ts';
import { patternSchema, type Task } from './task.ts';
import type { TokenId } from './trajectory.ts';

/**
 * A multi-step task as written in a file. It says what to set up, how the task begins, what judges it and what ends it.
 *
 * {@link taskFromDefinition} reads `name`, the first messages and `terminationPattern`. The other fields travel as the task's metadata:
 * the environment reads what names the world and its tools, rewards and judges read the goal and the criteria.
 */
export interface TaskDefinition {
  readonly name: string;
  readonly description?: string | undefined;
  /** Names the kind of world, such as `filesystem` or `http`. */
  readonly resourceType: string;
  readonly baseResourceConfig: Readonly<Record<string, unknown>>;
  /** Module that exports the tools. */
  readonly toolsModulePath?: string | undefined;
  /** Module that exports the reward function. */
  readonly rewardFunctionPath: string;
  readonly goalDescription?: string | undefined;
  readonly evaluationCriteria?: Readonly<Record<string, unknown>> | undefined;
  /** The conversation before the policy's first turn. One of the two is required. */
  readonly initialUserPrompt?: string | undefined;
  readonly initialMessages?: readonly Message[] | undefined;
  /** Regular expression. A response that matches it ends the episode. */
  readonly terminationPattern?: string | undefined;
}

/** Schema of {@link TaskDefinition}. */
export const taskDefinitionSchema: z.ZodType<TaskDefinition> = z
  .strictObject({
    name: z.string().min(1),
    description: z.string().optional(),
    resourceType: z.string(),
    baseResourceConfig: z.record(z.string(), z.unknown()).default({}),
    toolsModulePath: z.string().optional(),
    rewardFunctionPath: z.string(),
    goalDescription: z.string().optional(),
    evaluationCriteria: z.record(z.string(), z.unknown()).optional(),
    initialUserPrompt: z.string().optional(),
    initialMessages: z.array(messageSchema).min(1).optional(),
    terminationPattern: patternSchema.optional(),
  })
  .refine((task) => (task.initialUserPrompt === undefined) !== (task.initialMessages === undefined), {
    path: ['initialUserPrompt'],
    message: 'give either this or initialMessages',
  });

/** The definition as a {@link Task}, which carries it as its metadata and ends by its `terminationPattern`. */
export function taskFromDefinition(definition: TaskDefinition): Task<TaskDefinition> {
  requireFields(
    'taskFromDefinition',
    { name: 'text', resourceType: 'text', rewardFunctionPath: 'text' },
    definition,
  );
  const prompt = definition.initialMessages ?? [
    { role: 'user' as const, content: definition.initialUserPrompt ?? '' },
  ];
  const { name, terminationPattern } = definition;
  return { id: name, prompt, metadata: definition, ...(terminationPattern && { terminationPattern }) };
}

/** A decision, with what the policy can tell about it. */
export interface PolicyDecision {
  readonly action: Action;
  readonly rawOutput?: string | undefined;
  readonly logprobs?:
    | { readonly tokens: readonly TokenId[]; readonly logprobs: readonly number[] }
    | undefined;
  readonly valueEstimate?: number | undefined;
}

/** A policy that decides on actions instead of tokens, such as a remote model, a script or a person. */
export interface AgentPolicy {
  /**
   * @param observation - What the environment shows.
   * @param tools - Function schemas on offer, in OpenAI shape.
   */
  getAction(
    observation: unknown,
    tools?: readonly unknown[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<PolicyDecision>;
}
