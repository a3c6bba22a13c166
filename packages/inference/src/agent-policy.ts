import {
  type Action,
  type AgentPolicy,
  ArgumentError,
  messageSchema,
  parseOptions,
  SamplerError,
  settleWithin,
  TimeoutError,
  toolCallSchema,
} from '@rlp/core';
import * as z from 'zod';

/** The part of `fetch` that {@link chatAgentPolicy} calls. */
export type ChatFetch = (
  url: string,
  init: {
    readonly method: 'POST';
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly signal: AbortSignal;
  },
) => Promise<{ readonly ok: boolean; readonly status: number; text(): Promise<string> }>;

const schema = z.strictObject({
  /** Address of the API, such as `http://localhost:8000/v1`. */
  url: z.string().min(1),
  /** Name of the model at that address. */
  model: z.string().min(1),
  /** Sent as a bearer token. Default none. */
  apiKey: z.string().optional(),
  /** Maximum new tokens per decision. Defaults to the server's setting. */
  maxTokens: z.int().min(1).optional(),
  /** Softmax temperature. Defaults to the server's setting. */
  temperature: z.number().nonnegative().optional(),
  /** Name of the tool whose call is the action `terminate`. By default no tool ends the episode. */
  terminateTool: z.string().min(1).optional(),
  /** Milliseconds that one decision may take. Default 60 000. */
  timeoutMs: z.number().positive().default(60_000),
  /** Sends the requests. Default is the platform's `fetch`. */
  fetch: z.custom<ChatFetch>((value) => typeof value === 'function', 'must be a function').optional(),
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
          tool_calls: z.array(toolCallSchema).nullish(),
        }),
      }),
    )
    .min(1),
});

/**
 * A policy that makes the given decisions in order, for tests and for replaying episodes. Text is an action of the type `text`.
 *
 * @throws `ArgumentError`, as a rejection, once every decision was made.
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
 * A policy behind a server with an OpenAI-compatible chat endpoint. It shows the server text or messages, and takes the first tool call
 * of the answer as its action, else the text. It reports no logprobs, so its episodes are for evaluation.
 *
 * @throws `OptionsError` naming every problem at once. `getAction` rejects with an `ArgumentError` for an observation that is neither text
 *   nor messages, with a `SamplerError` if the server fails or is too late, and with the signal's reason once aborted.
 */
export function chatAgentPolicy(given: ChatAgentPolicyOptions): AgentPolicy {
  const options = parseOptions('chatAgentPolicy', schema, given);
  const { url, model, apiKey, maxTokens, temperature, terminateTool, timeoutMs } = options;
  const fetch = options.fetch ?? (globalThis as { readonly fetch?: ChatFetch }).fetch;
  if (fetch === undefined) throw new ArgumentError('chatAgentPolicy: this platform has no fetch; pass one');
  const place = `${url.replace(/\/+$/, '')}/chat/completions`;
  const headers = {
    'content-type': 'application/json',
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
  };
  const ask = async (body: string, signal: AbortSignal) => {
    const response = await fetch(place, { method: 'POST', headers, body, signal });
    const text = await response.text();
    if (response.ok) return actionOf(place, text, terminateTool);
    throw new SamplerError(`chatAgentPolicy: ${place} answered ${response.status}: ${text.slice(0, 200)}`);
  };
  return {
    async getAction(observation, tools, { signal } = {}) {
      signal?.throwIfAborted();
      const messages = observationSchema.safeParse(observation).data;
      if (messages === undefined) {
        throw new ArgumentError('chatAgentPolicy: expected text or messages as the observation');
      }
      const offered = tools === undefined || tools.length === 0 ? undefined : tools;
      const body = JSON.stringify({ model, messages, tools: offered, max_tokens: maxTokens, temperature });
      const controller = new AbortController();
      try {
        return await settleWithin(ask(body, controller.signal), controller, { timeoutMs, signal });
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof SamplerError) throw error;
        const reason = error instanceof TimeoutError ? `no answer within ${timeoutMs} ms` : String(error);
        throw new SamplerError(`chatAgentPolicy: ${place}: ${reason}`, { cause: error });
      }
    },
  };
}

/** The decision that an answer of the server stands for. */
function actionOf(place: string, text: string, terminateTool: string | undefined) {
  const answer = answerSchema.safeParse(jsonOf(text)).data;
  if (answer === undefined) {
    throw new SamplerError(
      `chatAgentPolicy: ${place}: expected a chat completion as JSON, got ${text.slice(0, 200)}`,
    );
  }
  const { content, tool_calls: calls } = answer.choices[0]!.message;
  const rawOutput = content ?? '';
  return { action: decided(rawOutput, calls?.[0]?.function, terminateTool), rawOutput };
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

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
