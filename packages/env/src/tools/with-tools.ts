import { type Environment, parseOptions, type State } from '@rlp/core';
import type * as z from 'zod';
import type { Keyed } from '../layers/layer.ts';
import type { Tool } from './tool.ts';
import { ToolLayer, toolLayerSchema } from './tool-layer.ts';
import type { ToolUse } from './tool-use.ts';

/** Options of {@link withTools}. */
export interface WithToolsOptions extends z.input<typeof toolLayerSchema> {}

/** State of an environment with tools: its own state, and what the episode did with the tools. */
export type WithToolUse<S extends State, Key extends string = 'tools'> = Keyed<S, Key, ToolUse>;

/**
 * The same environment, in which the policy can call tools.
 *
 * A response that calls tools is answered with their results, one `tool` message per call. The environment itself does not hear of
 * it. A response without calls goes to the environment. Calls of one response run at the same time. A call of a tool that does not exist, with
 * wrong arguments, that throws or takes too long is answered with an error that the policy can read.
 *
 * The prompt becomes messages, so a rollout needs a chat renderer. It shows the tools to the chat template. What happened is in the
 * state under `tools`, as values, so episodes can be forked and stored. Metrics: `tools/calls`, `tools/errors`, `tools/spent` and, if there
 * is one, `tools/budget`.
 *
 * @throws OptionsError naming every problem at once.
 */
export function withTools<S extends State, Metadata, Outcome>(
  environment: Environment<S, Metadata, Outcome>,
  tools: readonly Tool<NoInfer<S>>[],
  options: WithToolsOptions = {},
): Environment<WithToolUse<S>, Metadata, Outcome> {
  const owner = 'withTools';
  const resolved = parseOptions(owner, toolLayerSchema, options, 'WithToolsOptions');
  const settings = { ...resolved, owner, key: 'tools', order: 'together' } as const;
  return new ToolLayer(environment, tools, settings).environment();
}

/**
 * The same environment, in which the policy can have its work checked, at a price.
 *
 * Like {@link withTools}, under the key `verification`: metrics are `verification/spent` and `verification/budget`, which
 * `SVRLRewardComputer` of `@rlp/rewards` charges for.
 *
 * @param options.budget - Cost of checks that an episode may spend. Required.
 */
export function withVerification<S extends State, Metadata, Outcome>(
  environment: Environment<S, Metadata, Outcome>,
  tools: readonly Tool<NoInfer<S>>[],
  options: WithToolsOptions & { readonly budget: number },
): Environment<WithToolUse<S, 'verification'>, Metadata, Outcome> {
  const owner = 'withVerification';
  const schema = toolLayerSchema.extend({ budget: toolLayerSchema.shape.budget.unwrap() });
  const resolved = parseOptions(owner, schema, options, 'WithToolsOptions');
  const settings = { ...resolved, owner, key: 'verification', order: 'together' } as const;
  return new ToolLayer(environment, tools, settings).environment();
}
