import {
  type Action,
  type AgentPolicy,
  ArgumentError,
  messageSchema,
  parseOptions,
  RandomStream,
  SamplerError,
  toolCallSchema,
} from '@rlp/core';
import { JsonClient, requestSchema, rootAddress } from '@rlp/http/client';
import * as z from 'zod';
import { samplerError } from './remote/remedies.ts';

const schema = requestSchema.extend({
  /** Address of the API, such as `http://localhost:8000/v1`. */
  url: rootAddress,
  /** Name of the model at that address. */
  model: z.string().min(1),
  /** Maximum new tokens per decision. Defaults to the server's setting. */
  maxTokens: z.int().min(1).optional(),
  /** Softmax temperature. Defaults to the server's setting. */
  temperature: z.number().nonnegative().optional(),
  /** Name of the tool whose call is the action `terminate`. By default no tool ends the episode. */
  terminateTool: z.string().min(1).optional(),
  /** Maximum time of one attempt, in milliseconds. Default 60000. */
  timeoutMs: requestSchema.shape.timeoutMs.unwrap().default(60_000),
});

/** Options of {@link chatAgentPolicy}. */
export interface ChatAgentPolicyOptions extends z.input<typeof schema> {}

const observationSchema = z.union([
  z.string().transform((content) => [{ role: 'user' as const, content }]),
  z.array(messageSchema).min(1),
]);

/** Servers write `tool_calls: null` for none. */
const answerSchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          tool_calls: z.array(toolCallSchema).nullish(),
        }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
});

/**
 * A policy that makes the given decisions in order, for tests and for replaying episodes. Text is an action of the type `text`.
 *
 * @throws ArgumentError, as a rejection, once every decision was made.
 */
export function scriptedAgentPolicy(decisions: readonly (Action | string)[]): AgentPolicy {
  let made = 0;
  return {
    async getAction(_observation, _tools, { signal } = {}) {
      signal?.throwIfAborted();
      const decision = decisions[made];
      if (decision === undefined) {
        throw new ArgumentError(
          `scriptedAgentPolicy: expected at most ${decisions.length} decisions, was asked for another`,
        );
      }
      made += 1;
      if (typeof decision !== 'string') return { action: decision };
      return { action: { type: 'text', content: decision }, rawOutput: decision };
    },
  };
}

/**
 * A policy behind a server with an OpenAI-compatible chat endpoint.
 *
 * It sends text or messages to the server. Its action is the first tool call of the answer, or else the text. It reports no logprobs, so
 * its episodes are for evaluation. Text that is cut at `maxTokens` is an action.
 *
 * @throws OptionsError naming every problem at once. `getAction` rejects with an ArgumentError for an observation that is neither text nor
 *   messages, and with the signal's reason once aborted. It rejects with a SamplerError if the server fails or is too late, if the model
 *   refuses or is filtered, and if the answer is cut within a tool call or before any text.
 */
export function chatAgentPolicy(options: ChatAgentPolicyOptions): AgentPolicy {
  const resolved = parseOptions('chatAgentPolicy', schema, options);
  const { url, model, maxTokens, temperature, terminateTool } = resolved;
  const random = () => RandomStream.named('chat agent policy', url);
  const client = new JsonClient('chatAgentPolicy', resolved, random);
  return {
    async getAction(observation, tools, { signal } = {}) {
      signal?.throwIfAborted();
      const messages = observationSchema.safeParse(observation).data;
      if (messages === undefined) {
        throw new ArgumentError('chatAgentPolicy: expected text or messages as the observation');
      }
      const offered = tools === undefined || tools.length === 0 ? undefined : tools;
      const body = { model, messages, tools: offered, max_tokens: maxTokens, temperature };
      try {
        return actionOf(client, await client.json('/chat/completions', { body, signal }), terminateTool);
      } catch (error) {
        throw samplerError('chatAgentPolicy', error);
      }
    },
  };
}

/** The decision in an answer of the server. */
function actionOf(client: JsonClient, body: unknown, terminateTool: string | undefined) {
  const answer = answerSchema.safeParse(body).data;
  if (answer === undefined) throw client.unexpected('a chat completion', body);
  const { message, finish_reason: finish } = answer.choices[0]!;
  const { content, refusal, tool_calls: calls } = message;
  const call = calls?.[0]?.function;
  const problem =
    (refusal && `the model refused: ${client.quoted(refusal).slice(0, 200)}`) ||
    (finish === 'content_filter' && 'the content filter of the server stopped the answer') ||
    (finish === 'length' && isCut(content, call) && 'the answer was cut before its end; raise `maxTokens`');
  if (problem) throw new SamplerError(`chatAgentPolicy: ${client.place}: ${problem}`);
  const rawOutput = content ?? '';
  return { action: decided(rawOutput, call, terminateTool), rawOutput };
}

/** Whether an answer that ended by its length holds no whole tool call and no text. */
function isCut(
  content: string | null | undefined,
  call: { readonly arguments: string } | undefined,
): boolean {
  if (call === undefined) return !content;
  try {
    JSON.parse(call.arguments);
    return false;
  } catch {
    return true;
  }
}

function decided(
  content: string,
  call: { readonly name: string; readonly arguments: string } | undefined,
  terminateTool: string | undefined,
): Action {
  if (call === undefined) return { type: 'text', content };
  if (call.name === terminateTool) return { type: 'terminate' };
  return { type: 'tool_call', name: call.name, arguments: call.arguments };
}
