import type { Schema } from '@rlp/core';
import * as z from 'zod';
import { timerMs } from '../shared/schemas.ts';
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
  host: z.string().min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(0),
  authentication: z.enum(['token', 'none']).default('token'),
  token: z
    .string()
    .min(16, 'must have at least 16 characters')
    .regex(/^[A-Za-z0-9._~-]+$/, 'must consist of letters, digits, and . _ ~ -')
    .optional(),
  unscorable: z.union([z.literal('null'), z.number()]).default('null'),
  maxBodyBytes: z.int().positive().default(16_777_216),
  concurrency: z.int().positive().default(64),
  timeoutMs: timerMs.default(60_000),
  closeMs: timerMs.default(5000),
  signal: z.custom<AbortSignal>((value) => value instanceof AbortSignal, 'must be an AbortSignal').optional(),
});

/** How rewards are served. */
interface ServingOptions<Metadata> {
  /** What scores: a reward function, a reward computer (the episodes of one request are its group), or a verifier. */
  readonly rewards: ServedRewards<Metadata>;
  /** Address to listen on. Default `127.0.0.1`: this machine only. */
  readonly host?: string | undefined;
  /** Default 0: one that is free. */
  readonly port?: number | undefined;
  /** `'token'` (default): requests must carry it. `'none'`: whoever reaches the port may ask. */
  readonly authentication?: 'token' | 'none' | undefined;
  /** Letters, digits, `.`, `_`, `~`, `-`; at least 16. Default: 256 random bits, in `server.token`. */
  readonly token?: string | undefined;
  /** What stands for an unscorable episode: `'null'` (default), or a number, for trainers that cannot read null. */
  readonly unscorable?: 'null' | number | undefined;
  /** Longest request that is read. Default 16 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Requests scored at once; others wait. Default 64. */
  readonly concurrency?: number | undefined;
  /** Milliseconds to score a request. Default 60 000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds that `close` waits for requests under way. Default 5000. */
  readonly closeMs?: number | undefined;
  /** Ends the server at once. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Options of `serveRewards`. Metadata comes from outside, so rewards that read it need `metadata`, a schema that checks it
 * (zod, or any Standard Schema); an episode that does not fit is unscorable.
 */
export type ServeRewardsOptions<Metadata = unknown> = ServingOptions<Metadata> &
  (Readonly<Record<string, unknown>> extends Metadata
    ? { readonly metadata?: Schema<Metadata> | undefined }
    : { readonly metadata: Schema<Metadata> });
