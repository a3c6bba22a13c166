import * as z from 'zod';
import { clockSchema, functionSchema, timerMs, withMethod } from '../shared/schemas.ts';
import type { Fetch } from './fetch.ts';
import { type WireShape, wireShapes } from './wire-shapes.ts';

const shapeSchema = z.union([
  z.enum(Object.keys(wireShapes) as [keyof typeof wireShapes, ...(keyof typeof wireShapes)[]]),
  withMethod<WireShape>('readAnswer', 'must be a wire shape'),
]);

/** Schema of {@link RequestOptions}. */
export const requestSchema = z.strictObject({
  /** Address of the server, http or https. Required. */
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
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
  backoff: z
    .strictObject({
      /** Shortest wait in milliseconds. The next is uniform between this and three times the last. Default 100. */
      firstMs: timerMs.default(100),
      /** Longest wait in milliseconds. A `retry-after` of the server counts up to it. Default 5000. */
      longestMs: timerMs.default(5000),
    })
    .prefault({}),
  /** Longest answer in bytes. Default 1 048 576 (1 MiB). */
  maxAnswerBytes: z.int().positive().default(1_048_576),
  /** Sends the requests. Default: the platform's `fetch`. */
  fetch: functionSchema<Fetch>().optional(),
});

/** How a server is asked over HTTP. */
export interface RequestOptions extends z.input<typeof requestSchema> {}

const rewardSchema = requestSchema.extend({
  /** JSON that the server speaks. Default `'episode'`: `{prompt, response, metadata}` is answered by `{reward}`. */
  shape: shapeSchema.default('episode'),
  /** Requests in progress at once. Default 64. */
  concurrency: z.int().positive().default(64),
  /** Most episodes in a request. What waits at the same time is sent together. Default 1. */
  batchSize: z.int().positive().default(1),
  /** Answers kept for episodes that come again. The least recently used goes first. Default 0. */
  cacheSize: z.int().nonnegative().default(0),
  /** Circuit breaker. */
  circuit: z
    .strictObject({
      /** Requests in a row without an answer that open it. Default 8. */
      failures: z.int().positive().default(8),
      /** Milliseconds without requests, before one is let through. Default 10 000. */
      coolDownMs: timerMs.default(10_000),
    })
    .prefault({}),
  /** Name of the random stream of the waits. Default `'external-reward'`. */
  seed: z.string().default('external-reward'),
  /** Milliseconds since any fixed point. Default `performance.now`. */
  clock: clockSchema,
});

/** How a reward model behind HTTP is asked. */
export interface ExternalRewardOptions extends z.input<typeof rewardSchema> {}

/** Schema of {@link ExternalRewardOptions}. */
export const externalOptionsSchema = rewardSchema.refine(
  ({ shape, batchSize }) => batchSize === 1 || capacityOf(shape) === 'many',
  { path: ['batchSize'], message: 'must be 1, since a request of this shape holds one episode' },
);

function capacityOf(shape: z.output<typeof shapeSchema>): WireShape['capacity'] {
  return (typeof shape === 'string' ? wireShapes[shape] : shape).capacity;
}
