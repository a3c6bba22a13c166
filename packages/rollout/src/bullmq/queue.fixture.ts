import { EventEmitter } from 'node:events';
import type { QueuePeers } from './peers.ts';

interface FakeJob {
  readonly data: unknown;
  readonly options: Readonly<Record<string, unknown>>;
  state: 'waiting' | 'active' | 'completed' | 'failed';
  returnvalue?: unknown;
  failedReason?: string;
}

/** BullMQ and ioredis in memory, as far as rollouts use them. */
export function fakeQueue() {
  const jobs = new Map<string, FakeJob>();
  const added: string[] = [];
  const removed: string[] = [];
  const closed: string[] = [];
  const connections: { readonly url: string; readonly options: Record<string, unknown>; isOpen: boolean }[] =
    [];
  const events = new EventEmitter();
  const workers: {
    readonly process: (job: object) => Promise<object>;
    readonly options: Record<string, unknown>;
  }[] = [];
  class Redis extends EventEmitter {
    readonly #entry;
    constructor(url: string, options: Record<string, unknown>) {
      super();
      this.#entry = { url, options, isOpen: true };
      connections.push(this.#entry);
    }
    disconnect() {
      this.#entry.isOpen = false;
    }
  }
  class Queue extends EventEmitter {
    async add(_name: string, data: unknown, options: { readonly jobId: string }) {
      added.push(options.jobId);
      if (!jobs.has(options.jobId))
        jobs.set(options.jobId, { data, options: { ...options }, state: 'waiting' });
    }
    async getJob(id: string) {
      const job = jobs.get(id);
      return (
        job && {
          ...job,
          isFailed: async () => job.state === 'failed',
          isWaiting: async () => job.state === 'waiting',
          remove: async () => {
            removed.push(id);
            jobs.delete(id);
          },
        }
      );
    }
    async getJobState(id: string) {
      return jobs.get(id)?.state ?? 'unknown';
    }
    async close() {
      closed.push('queue');
    }
  }
  class QueueEvents extends EventEmitter {
    constructor() {
      super();
      for (const event of ['completed', 'failed']) events.on(event, (told) => this.emit(event, told));
    }
    async close() {
      closed.push('events');
    }
  }
  class Worker extends EventEmitter {
    constructor(_queue: string, process: (job: object) => Promise<object>, options: Record<string, unknown>) {
      super();
      workers.push({ process, options });
    }
    async close() {
      closed.push('worker');
    }
  }
  /** Ends a job. Listeners hear of it unless nobody tells them. */
  const end = (id: string, ended: Partial<FakeJob>, told: 'told' | 'untold' = 'told') => {
    Object.assign(jobs.get(id)!, ended);
    if (told === 'told') events.emit(ended.state!, { jobId: id });
  };
  const peers = { bullmq: { Queue, QueueEvents, Worker }, Redis } as unknown as QueuePeers;
  return { peers, jobs, added, removed, closed, connections, workers, end };
}
