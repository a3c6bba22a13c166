import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GroupJob } from '@rlp/core';
import { describeRolloutPool } from '@rlp/core/testing';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { bullRollouts, serveBullRollouts } from '../bullmq.ts';
import { groupWorker } from '../index.ts';
import parts from '../pool/letters.worker.fixture.ts';

const program = process.env.RLP_REDIS_SERVER ?? 'redis-server';

function hasRedis(): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    console.log(`rollout: BullMQ is skipped: no ${program}; install Redis or set RLP_REDIS_SERVER`);
    return false;
  }
}

/** A port that nobody uses. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

describe.skipIf(!hasRedis())('BullMQ on Redis', async () => {
  const root = await mkdtemp(join(tmpdir(), 'rlp-redis-'));
  const port = await freePort();
  const startRedis = async () => {
    const child = spawn(
      program,
      [
        '--port',
        `${port}`,
        '--dir',
        root,
        '--appendonly',
        'yes',
        '--appendfsync',
        'always',
        '--bind',
        '127.0.0.1',
      ],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    for await (const text of child.stdout!) if (/Ready to accept/.test(String(text))) break;
    child.stdout!.resume();
    return child;
  };
  let redis = hasRedis() ? await startRedis() : undefined;
  const processes = new Set<ChildProcess>();
  afterAll(async () => {
    for (const child of processes) child.kill('SIGKILL');
    redis?.kill('SIGKILL');
    await rm(root, { recursive: true, force: true });
  });
  const url = `redis://127.0.0.1:${port}`;
  const options = { groupSize: 3, seed: 'queue', sampling: { maxTokens: 8 } };
  let run = 0;
  const job = (index: number): GroupJob => ({
    ...{ name: `${run}/job ${index}`, groupId: `0/task ${index}`, options },
    task: { id: `task ${index}`, prompt: `Say ${index}.`, metadata: { index } },
  });
  const expected = (one: GroupJob) => groupWorker(parts()).run(one);
  const startWorker = async (queue: string) => {
    const child = fork(`${process.env.RLP_THREADS}/packages/rollout/src/bullmq/bull.worker.fixture.js`, [
      url,
      queue,
    ]);
    processes.add(child);
    await once(child, 'message');
    return child;
  };
  const killWorker = async (queue: string) => {
    const [child] = processes;
    child!.kill('SIGKILL');
    processes.delete(child!);
    await startWorker(queue);
  };
  let queue = '';

  describeRolloutPool('bullRollouts', {
    create: async () => {
      for (const child of processes) child.kill('SIGKILL');
      processes.clear();
      run += 1;
      queue = `queue ${run}`;
      await startWorker(queue);
      return bullRollouts({ url, queue, workers: 2, pollMs: 50, backoffMs: 10 });
    },
    job,
    expected,
    kill: () => killWorker(queue),
  });

  it('loses and doubles nothing when Redis ends, and finds jobs of an earlier controller', async () => {
    run += 1;
    const results = join(root, 'results');
    let worked = 0;
    const inner = groupWorker(parts());
    const counting = {
      run: (...call: Parameters<typeof inner.run>) => {
        worked += 1;
        return inner.run(...call);
      },
    };
    const shared = { url, queue: 'redis ends', results };
    const worker = await serveBullRollouts({ worker: counting, ...shared, lockMs: 1000 });
    onTestFinished(() => worker.close());
    const pool = await bullRollouts({ ...shared, pollMs: 50 });
    const jobs = Array.from({ length: 16 }, (_, index) => job(index));
    const running = jobs.map((one) => pool.run(one));
    await running[2];
    redis!.kill('SIGKILL');
    await once(redis!, 'exit');
    redis = await startRedis();
    const groups = await Promise.all(running);
    for (const [i, one] of jobs.entries()) {
      expect(JSON.stringify(groups[i])).toBe(JSON.stringify(await expected(one)));
    }
    expect(await readdir(results)).toHaveLength(16);
    await pool.close();
    const before = worked;
    const next = await bullRollouts({ ...shared, pollMs: 50 });
    onTestFinished(() => next.close());
    expect((await next.run(jobs[0]!)).id).toBe('0/task 0');
    expect(worked).toBe(before);
  }, 30_000);

  it('says what failed, and what to do when no worker comes', async () => {
    run += 1;
    const broken = { run: () => Promise.reject(new Error('out of memory')) };
    const worker = await serveBullRollouts({ worker: broken, url, queue: 'broken' });
    onTestFinished(() => worker.close());
    const pool = await bullRollouts({ url, queue: 'broken', attempts: 2, backoffMs: 1, pollMs: 50 });
    onTestFinished(() => pool.close());
    await expect(pool.run(job(0))).rejects.toThrow(/job 0.*out of memory/);
    const alone = await bullRollouts({ url, queue: 'nobody', deadlineMs: 100 });
    onTestFinished(() => alone.close());
    await expect(alone.run(job(1))).rejects.toThrow(/check that workers of the queue run/);
    await expect(bullRollouts({ url: 'http://secret@x' })).rejects.toThrow(/redis:\/\//);
  });
});
