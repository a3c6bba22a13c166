import { importPeer } from '../optional-peer.ts';

/** What the suites need of vitest. */
export const { afterEach, describe, expect, it } = await importPeer(
  '@rlp/core/testing',
  'vitest',
  () => import('vitest'),
);
