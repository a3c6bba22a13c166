import type { Schema } from '@rlp/core';
import { abortSignal, timerMs } from '@rlp/core';
import * as z from 'zod';
import type { ServedRewards } from './served.ts';

/** Schema of {@link ServeRewardsOptions}. */
export const serveOptionsSchema = z.strictObject({
  rewards: z.custom<ServedRewards<unknown>>(
    (value) => typeof value === 'function' || (typeof value === 'object' && value !== null),
    'must be a reward function, a reward computer or a verifier',
  ),
  metadata: z
    .custom<Schema<unknown>>(
      (value) => typeof value === 'object' && value !== null && '~standard' in value,
      'must be a schema',
    )
    .optional(),
  /** Address to listen on. Default `'127.0.0.1'`, which only this machine reaches. */
  host: z.string().min(1).default('127.0.0.1'),
  /** Port to listen on; 0 takes a free one. Default 0. */
  port: z.int().min(0).max(65_535).default(0),
  /** Whether requests must carry the token. With `'none'` everybody who reaches the port may ask. Default `'token'`. */
  authentication: z.enum(['token', 'none']).default('token'),
  /** At least 16 letters, digits, `.`, `_`, `~` or `-`. Default: 256 random bits, in `server.token`. */
  token: z
    .string()
    .min(16, 'must have at least 16 characters')
    .regex(/^[A-Za-z0-9._~-]+$/, 'must consist of letters, digits, and . _ ~ -')
    .optional(),
  /** Answer for an unscorable episode: `'null'`, or a number for trainers that cannot read null. Default `'null'`. */
  unscorable: z.union([z.literal('null'), z.number()]).default('null'),
  /** Longest request in bytes. Default 16 777 216 (16 MiB). */
  maxBodyBytes: z.int().positive().default(16_777_216),
  /** Most episodes of a request. A longer one gets 413. Default 4096. */
  maxEpisodes: z.int().positive().default(4096),
  /** Requests scored at once. Others wait. Default 64. */
  concurrency: z.int().positive().default(64),
  /** Milliseconds to score a request. Default 60 000. */
  timeoutMs: timerMs.default(60_000),
  /** Milliseconds that `close` waits for requests in progress. Default 5000. */
  closeMs: timerMs.default(5000),
  /** Ends the server at once. Default none. */
  signal: abortSignal.optional(),
});

/** How rewards are served. */
interface ServingOptions<Metadata> extends Omit<z.input<typeof serveOptionsSchema>, 'rewards' | 'metadata'> {
  /** A reward function, a reward computer (the episodes of a request are its group), or a verifier. Required. */
  readonly rewards: ServedRewards<Metadata>;
}

/**
 * Options of `serveRewards`. Metadata comes from outside, so rewards that read it need `metadata`, a schema that checks it
 * (zod, or any Standard Schema). An episode that does not fit is unscorable.
 */
export type ServeRewardsOptions<Metadata = unknown> = ServingOptions<Metadata> &
  (Readonly<Record<string, unknown>> extends Metadata
    ? {
        /** Schema of the metadata. Default: not checked. */
        readonly metadata?: Schema<Metadata> | undefined;
      }
    : {
        /** Schema of the metadata. Required. */
        readonly metadata: Schema<Metadata>;
      });
