import { parseOptions, RandomStream, RewardError, TimeoutError } from '@rlp/core';
import * as z from 'zod';
import { ExternalRewardError } from '../external/failure.ts';
import { type RequestOptions, requestSchema } from '../external/options.ts';
import { endpointOf, postJson } from '../external/post.ts';
import { repeated } from '../external/repeated.ts';
import type { TextGenerator } from './text-generator.ts';

const schema = requestSchema.extend({
  model: z.string().min(1),
  temperature: z.number().nonnegative().optional(),
  maxTokens: z.int().positive().optional(),
  body: z.record(z.string(), z.unknown()).default({}),
  timeoutMs: requestSchema.shape.timeoutMs.unwrap().default(60_000),
});

/** Options of {@link chatCompletionsGenerator}: those of any request, with a `timeoutMs` of 60 000 an attempt, and these. */
export interface ChatCompletionsOptions extends RequestOptions {
  /** The address requests go to, path included, such as `http://127.0.0.1:8000/v1/chat/completions`. */
  readonly url: string;
  /** The model's name there. */
  readonly model: string;
  /** Default: the server's. */
  readonly temperature?: number | undefined;
  /** Sent as `max_tokens`. Default: the server's. */
  readonly maxTokens?: number | undefined;
  /** Further fields of the request, such as `{ max_completion_tokens: 2000 }`; they replace ours of the same name. */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
}

const answerSchema = z.object({
  choices: z
    .array(z.object({ message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }) }))
    .min(1),
});

/**
 * A {@link TextGenerator} over HTTP, for any server that speaks OpenAI's chat completions: vLLM, SGLang, llama.cpp, hosted ones.
 *
 * Asks again where the server was away, slow, busy (what `retry-after` says included) or broken. Rejects with a `TimeoutError`
 * where it stays slow, an `ExternalRewardError` where no answer can be read, a `RewardError` where the model refused. The seed of a
 * call becomes an integer `seed` of the request. Redirects are not followed.
 *
 * @throws `OptionsError` naming every problem at once; `ArgumentError` on a platform without fetch.
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export function chatCompletionsGenerator(options: ChatCompletionsOptions): TextGenerator {
  const resolved = parseOptions('chatCompletionsGenerator', schema, options);
  const { model, temperature, maxTokens, body: further, attempts, backoff } = resolved;
  const endpoint = endpointOf('chatCompletionsGenerator', resolved);
  return async (messages, { seed: name, signal }) => {
    const random = RandomStream.named('chat completions', name);
    const seed = random.integer(2 ** 31);
    const body = JSON.stringify({ model, messages, temperature, max_tokens: maxTokens, seed, ...further });
    const answer = await repeated(() => postJson(endpoint, body, signal), {
      attempts,
      backoff,
      random: () => random,
      signal,
    }).catch((error: unknown) => {
      const isSlow = error instanceof ExternalRewardError && error.failure === 'timed-out';
      throw isSlow ? new TimeoutError(error.message, { cause: error }) : error;
    });
    return textOf(answer, endpoint.place);
  };
}

function textOf(answer: unknown, place: string): string {
  const { data } = answerSchema.safeParse(answer);
  const message = data?.choices[0]?.message;
  if (message?.refusal)
    throw new RewardError(`${place}: the model refused: ${message.refusal.slice(0, 200)}`);
  if (typeof message?.content === 'string') return message.content;
  throw new ExternalRewardError(
    'malformed',
    `${place}: expected a chat completion with text, got another body`,
  );
}
