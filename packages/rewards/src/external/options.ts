import { having, timerMs } from '@rlp/core';
import { requestSchema } from '@rlp/http/client';
import * as z from 'zod';
import { clockSchema } from '../shared/schemas.ts';
import { type WireShape, wireShapes } from './wire-shapes.ts';

const shapeSchema = z.union([
  z.enum(Object.keys(wireShapes) as [keyof typeof wireShapes, ...(keyof typeof wireShapes)[]]),
  having<WireShape>('readAnswer', 'a wire shape'),
]);

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
