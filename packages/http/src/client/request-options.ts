import { callback, type NamedSchema, timerMs } from '@rlp/core';
import * as z from 'zod';
import type { Fetch } from './fetch.ts';

const backoffFields = z.strictObject({
  /** Shortest wait in milliseconds. The next is uniform between this and three times the last. Default 100. */
  firstMs: timerMs.default(100),
  /** Longest wait in milliseconds. A `retry-after` of the server counts up to it. Default 5000. */
  longestMs: timerMs.default(5000),
});

/** Waits between the attempts of a request. */
export interface BackoffOptions extends z.input<typeof backoffFields> {}

/** {@link BackoffOptions} with every default filled in. */
export interface ResolvedBackoffOptions extends z.output<typeof backoffFields> {}

const backoffSchema: NamedSchema<BackoffOptions, ResolvedBackoffOptions> = backoffFields;

const address = z
  .url({
    protocol: /^https?$/,
    error: 'must be an http or https address, such as http://127.0.0.1:8000',
  })
  .refine((url) => !/^[a-z]+:\/\/[^/?#]*@/i.test(url), {
    error: 'must hold no user and no password; send them as `token` or in `headers`',
    abort: true,
  });

/** Address of a server whose paths are appended to it. */
export const rootAddress = address.refine((url) => !/[?#]/.test(url), {
  error: 'must be the root of the server, without a query; send keys as `token` or in `headers`',
});

/** Schema of {@link RequestOptions}. */
export const requestSchema = z.strictObject({
  /** Address of the server, http or https. Required. */
  url: address,
  /** Sent as `authorization: Bearer …`. Never logged. Default none. */
  token: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters')
    .optional(),
  /** Headers of every request. Never logged. Default `{}`. */
  headers: z
    .record(
      z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of a header'),
      z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be one line of Latin-1 characters'),
    )
    .default({}),
  /** Milliseconds that one attempt may take, to the last byte of its answer. Default 10 000. */
  timeoutMs: timerMs.default(10_000),
  /** Most times a request is sent. It is repeated only if the server is away, slow, busy (408, 429) or broken (5xx). Default 3. */
  attempts: z.int().positive().default(3),
  /** Waits between attempts. */
  backoff: backoffSchema.prefault({}),
  /** Longest answer in bytes. Default 1 048 576 (1 MiB). */
  maxAnswerBytes: z.int().positive().default(1_048_576),
  /** Sends the requests. Default: the platform's `fetch`. */
  fetch: callback<Fetch>().optional(),
});

/** How a server is asked over HTTP. */
export interface RequestOptions extends z.input<typeof requestSchema> {}
