import type { ChatRenderer, Tokenizer } from '@rlp/core';
import { abortSignal, callback } from '@rlp/core';
import { requestSchema, rootAddress } from '@rlp/http/client';
import { pooledFetch } from '@rlp/http/pooled';
import * as z from 'zod';

/** Options of every sampler on a server. */
export const remoteSchema = requestSchema.extend({
  /** Root of the server, http or https. A `/v1` at its end is left out. Required. */
  url: rootAddress,
  /** Sends the requests. Default: connections that stay open (undici) in Node.js, otherwise the platform's `fetch`. */
  fetch: requestSchema.shape.fetch,
  /** Name of the model on the server. Default: the one that it serves. */
  model: z.string().min(1).optional(),
  /** Tokenizer of the model. `loadTokenizer` of `@rlp/models` reads one. Required. */
  tokenizer: z.custom<Tokenizer>(
    (value) => typeof (value as { decode?: unknown } | null)?.decode === 'function',
    'must be a tokenizer; loadTokenizer of @rlp/models reads one from the folder of the model',
  ),
  /** Chat format of the model. Default none. */
  renderer: z
    .custom<ChatRenderer>(
      (value) => typeof (value as { render?: unknown } | null)?.render === 'function',
      'must be a chat renderer',
    )
    .optional(),
  /** Size of the model's vocabulary. Default: the tokenizer's. */
  vocabularySize: z.int().positive().optional(),
  /** Version of the server's weights. Default 0. */
  policyVersion: z.int().nonnegative().default(0),
  /**
   * `'exact'` computes entropies from the logprobs of the whole vocabulary, which the server must return. `'unknown'` reports NaN. Default
   * `'unknown'`.
   */
  entropies: z.enum(['unknown', 'exact']).default('unknown'),
  /** Converts the path of a local directory to the server's path. Default: the absolute path. */
  remotePath: callback<(path: string) => string>().optional(),
  /** Maximum time of one request, in milliseconds. Default 120000. */
  timeoutMs: requestSchema.shape.timeoutMs.unwrap().default(120_000),
  /** Maximum time for the server to take over new weights, in milliseconds. Default 600000. */
  updateTimeoutMs: requestSchema.shape.timeoutMs.unwrap().default(600_000),
  /** Ends the start and every later request. Default: only the signal of a call ends it. */
  signal: abortSignal.optional(),
  /** Maximum size of an answer, in bytes. Default 268435456 (256 MiB). */
  maxAnswerBytes: z.int().positive().default(268_435_456),
});

/** Checked options of a sampler on a server. */
export type ResolvedRemoteOptions = z.output<typeof remoteSchema>;

/** The options with the root of the server, and with the cheapest transport of this platform if they name none. */
export function connectionOf<Options extends Pick<ResolvedRemoteOptions, 'fetch' | 'url'>>(
  options: Options,
): Options {
  const url = options.url.replace(/\/+$/, '').replace(/\/v1$/, '');
  return { ...options, url, fetch: options.fetch ?? pooledFetch };
}
