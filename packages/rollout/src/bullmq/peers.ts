import { importPeer } from '@rlp/core';

/** The clients of a queue. */
export interface QueuePeers {
  readonly bullmq: typeof import('bullmq');
  readonly Redis: typeof import('ioredis').Redis;
}

/** Loads the clients. @throws MissingPeerError naming the one that is not installed. */
export async function queuePeers(owner: string): Promise<QueuePeers> {
  const bullmq = await importPeer(owner, 'bullmq', () => import('bullmq'));
  const { Redis } = await importPeer(owner, 'ioredis', () => import('ioredis'));
  return { bullmq, Redis };
}
