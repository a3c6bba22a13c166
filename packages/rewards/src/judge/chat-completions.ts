import { parseOptions, RandomStream, RewardError, type TextGenerator, TimeoutError } from '@rlp/core';
import {
  type Endpoint,
  endpointOf,
  failureSentence,
  postJson,
  RequestError,
  repeated,
  requestSchema,
  unexpectedAnswer,
} from '@rlp/http/client';
import * as z from 'zod';

const schema = requestSchema.extend({
  /** Address of the API as clients of OpenAI take it, such as `http://127.0.0.1:8000/v1`, or of its path `/chat/completions`. Required. */
  url: requestSchema.shape.url,
  /** Name of the model on the server. Required. */
  model: z.string().min(1),
  /** Sampling temperature. Default: the server's. */
  temperature: z.number().nonnegative().optional(),
  /** Most new tokens, sent as `max_tokens`. Default: the server's. */
  maxTokens: z.int().positive().optional(),
  /** Further fields of the request, such as `{ max_completion_tokens: 2000 }`. They replace ours of the same name. Default `{}`. */
  body: z.record(z.string(), z.unknown()).default({}),
  /** Milliseconds that one attempt may take. Default 60 000. */
  timeoutMs: requestSchema.shape.timeoutMs.unwrap().default(60_000),
});

/** Options of {@link chatCompletionsGenerator}. */
export interface ChatCompletionsOptions extends z.input<typeof schema> {}

const answerSchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
});

/**
 * A {@link TextGenerator} over HTTP, for any server that speaks OpenAI's chat completions: vLLM, SGLang, llama.cpp, hosted ones.
 *
 * Asks again where the server was away, slow, busy (what `retry-after` says included) or broken. Rejects with a `TimeoutError`
 * where it stays slow, a `RequestError` where no answer can be read, a `RewardError` where the model refused or was filtered. The seed of a
 * call becomes an integer `seed` of the request. Redirects are not followed.
 *
 * @throws OptionsError naming every problem at once. ArgumentError on a platform without fetch.
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export function chatCompletionsGenerator(options: ChatCompletionsOptions): TextGenerator {
  const resolved = parseOptions('chatCompletionsGenerator', schema, options);
  const { model, temperature, maxTokens, body: further, attempts, backoff } = resolved;
  const endpoint = endpointOf('chatCompletionsGenerator', { ...resolved, url: completionsUrl(resolved.url) });
  return async (messages, { seed: name, signal }) => {
    const random = RandomStream.named('chat completions', name);
    const seed = random.integer(2 ** 31);
    const body = JSON.stringify({ model, messages, temperature, max_tokens: maxTokens, seed, ...further });
    const repetition = { attempts, backoff, random: () => random, signal };
    try {
      return textOf(await repeated(() => postJson(endpoint, body, signal), repetition), endpoint);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const sentence = failureSentence(error, words);
      if (error.failure === 'timed-out') throw new TimeoutError(sentence, { cause: error });
      throw new RequestError(error.failure, sentence, error);
    }
  };
}

const words = {
  key: 'token',
  less: 'ask for less at once',
  missing: 'check `url`, such as http://127.0.0.1:8000/v1, and `model`',
};

/** The address that answers, from the address of a server, of its API or of the path itself. */
function completionsUrl(url: string): string {
  const full = new URL(url);
  const path = full.pathname.replace(/\/+$/, '');
  if (!path.endsWith('/chat/completions')) full.pathname = `${path || '/v1'}/chat/completions`;
  return full.href;
}

function textOf(answer: unknown, endpoint: Endpoint): string {
  const { place } = endpoint;
  const { data } = answerSchema.safeParse(answer);
  const { message, finish_reason: finish } = data?.choices[0] ?? {};
  if (message?.refusal)
    throw new RewardError(`${place}: the model refused: ${message.refusal.slice(0, 200)}`);
  if (finish === 'content_filter') {
    throw new RewardError(
      `${place}: the content filter of the server stopped the answer; use a server that filters less`,
    );
  }
  if (typeof message?.content === 'string') return message.content;
  if (finish === 'length') {
    const remedy = 'raise `maxTokens`';
    throw new RequestError('malformed', `${place}: the answer was cut before any text`, { remedy });
  }
  throw unexpectedAnswer(endpoint, 'a chat completion with text', answer);
}
