import * as z from 'zod';
import { timerMs } from '../shared/schemas.ts';
import type { Fetch } from './fetch.ts';
import { type WireShape, wireShapes } from './wire-shapes.ts';

const isFunction = (value: unknown) => typeof value === 'function';

const shapeSchema = z.union([
  z.enum(Object.keys(wireShapes) as [keyof typeof wireShapes, ...(keyof typeof wireShapes)[]]),
  z.custom<WireShape>(
    (value) =>
      typeof value === 'object' && value !== null && 'writeRequest' in value && 'readAnswer' in value,
    'must be a wire shape',
  ),
]);

/** What any server is asked by: where, as whom, how long and how often. */
export const requestSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
  token: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters')
    .optional(),
  headers: z
    .record(
      z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of a header'),
      z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be one line of Latin-1 characters'),
    )
    .default({}),
  timeoutMs: timerMs.default(10_000),
  attempts: z.int().positive().default(3),
  backoff: z.strictObject({ firstMs: timerMs.default(100), longestMs: timerMs.default(5000) }).prefault({}),
  maxAnswerBytes: z.int().positive().default(1_048_576),
  fetch: z.custom<Fetch>(isFunction, 'must be a function').optional(),
});

/** Schema of {@link ExternalRewardOptions}. */
export const externalOptionsSchema = requestSchema
  .extend({
    shape: shapeSchema.default('episode'),
    concurrency: z.int().positive().default(64),
    batchSize: z.int().positive().default(1),
    cacheSize: z.int().nonnegative().default(0),
    circuit: z
      .strictObject({ failures: z.int().positive().default(8), coolDownMs: timerMs.default(10_000) })
      .prefault({}),
    seed: z.string().default('external-reward'),
    clock: z.custom<() => number>(isFunction, 'must be a function').default(() => () => performance.now()),
  })
  .refine(({ shape, batchSize }) => batchSize === 1 || capacityOf(shape) === 'many', {
    path: ['batchSize'],
    message: 'must be 1, since a request of this shape holds one episode',
  });

function capacityOf(shape: z.output<typeof shapeSchema>): WireShape['capacity'] {
  return (typeof shape === 'string' ? wireShapes[shape] : shape).capacity;
}

/** How a server is asked over HTTP. Only `url` is required. */
export interface RequestOptions {
  /** Where it is. */
  readonly url: string;
  /** Sent as `authorization: Bearer …`. Never logged. */
  readonly token?: string | undefined;
  /** Sent with every request. Never logged. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds that one attempt may take, until the last byte of its answer. Default 10 000. */
  readonly timeoutMs?: number | undefined;
  /** How often a request is sent at most. Default 3. Again only where the server was away, slow, busy (408, 429) or broken (5xx). */
  readonly attempts?: number | undefined;
  /**
   * Wait between attempts: uniform between `firstMs` (100) and three times the last wait, at most `longestMs` (5000); what the
   * server asks for in `retry-after`, where that is longer (within `longestMs`).
   */
  readonly backoff?:
    | { readonly firstMs?: number | undefined; readonly longestMs?: number | undefined }
    | undefined;
  /** Longest answer that is read. Default 1 MiB. */
  readonly maxAnswerBytes?: number | undefined;
  /** Default: the platform's. */
  readonly fetch?: Fetch | undefined;
}

/** How a reward model behind HTTP is asked. Only `url` is required. */
export interface ExternalRewardOptions extends RequestOptions {
  /** The JSON that it speaks. Default `'episode'`: `{prompt, response, metadata}` is answered by `{reward}`. */
  readonly shape?: keyof typeof wireShapes | WireShape | undefined;
  /** Requests under way at once. Default 64. */
  readonly concurrency?: number | undefined;
  /** Episodes in a request at most; what waits at the same time is sent together. Default 1. */
  readonly batchSize?: number | undefined;
  /** Answers kept, for episodes that come again; the one not used for longest goes first. Default 0. */
  readonly cacheSize?: number | undefined;
  /** After `failures` (8) requests in a row without an answer, none is sent for `coolDownMs` (10 000); then one, to see. */
  readonly circuit?:
    | { readonly failures?: number | undefined; readonly coolDownMs?: number | undefined }
    | undefined;
  /** Names the random stream of the waits. Default `'external-reward'`. */
  readonly seed?: string | undefined;
  /** Milliseconds since any fixed point. Default `performance.now`. */
  readonly clock?: (() => number) | undefined;
}
