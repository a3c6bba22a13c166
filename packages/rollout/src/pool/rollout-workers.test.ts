import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { GroupJob, TrajectoryGroup } from '@rlp/core';
import { describeRolloutPool } from '@rlp/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { groupWorker, pooledRollouts, RolloutManager } from '../index.ts';
import { createRolloutWorkers } from '../workers.ts';
import parts from './letters.worker.fixture.ts';

// Bundled before the tests, as the programs of threads are.
const module = pathToFileURL(
  `${process.env.RLP_THREADS}/packages/rollout/src/pool/letters.worker.fixture.js`,
);
const options = { groupSize: 3, seed: 'pool', sampling: { maxTokens: 8 } };
const job = (index: number): GroupJob => ({
  ...{ name: `job ${index}`, groupId: `0/task ${index}`, options },
  task: { id: `task ${index}`, prompt: `Say ${index}.`, metadata: { index } },
});
const expected = (one: GroupJob): Promise<TrajectoryGroup> => groupWorker(parts()).run(one);

for (const kind of ['thread', 'process'] as const) {
  describeRolloutPool(`createRolloutWorkers with a ${kind} each`, {
    create: () => createRolloutWorkers({ module, kind, workers: 2 }),
    job,
    expected,
    deadly: () => ({ ...job(50), name: 'deadly', task: { id: 'die', prompt: '', metadata: undefined } }),
    ...(kind === 'process' && { kill: () => end(processes()) }),
  });
}

/** The processes of pools, which carry the data of their worker. */
function processes(): number[] {
  const text = execFileSync('ps', ['-o', 'pid=', '--ppid', String(process.pid)], { encoding: 'utf8' });
  const pids = text.split('\n').map(Number);
  return pids.filter((pid) => pid > 0 && read(pid, 'environ').includes('RLP_WORKER_DATA'));
}

/** Ends processes, and returns when all have ended and their parent has heard of none. */
function end(pids: readonly number[]): void {
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  // The first thread of a process may have ended before the others.
  while (pids.some((pid) => /^State:\s+[^Z]|^Threads:\s+[^1]/m.test(read(pid, 'status'))));
}

/** A file of a process. Empty if the process is gone. */
function read(pid: number, file: 'environ' | 'status'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

it.skipIf(process.platform !== 'linux')(
  'a job whose worker ended is not given to one that ended at the same moment',
  async () => {
    const pool = await createRolloutWorkers({ module, kind: 'process', workers: 2, attempts: 2 });
    onTestFinished(() => pool.close());
    // The second round changes which of the two is asked next: the one that its parent hears of first.
    for (let round = 0; round < 2; round++) await Promise.all([pool.run(job(1)), pool.run(job(2))]);
    const pids = processes();
    expect(pids).toHaveLength(2);
    const running = pool.run(job(3));
    await new Promise((resolve) => setImmediate(resolve));
    end(pids);
    expect((await running).id).toBe(job(3).groupId);
  },
);

describe('pooledRollouts', () => {
  const tasks = Array.from({ length: 5 }, (_, index) => job(index).task);

  it('collects the groups of a rollout manager, in the order of the tasks', async () => {
    const pool = await createRolloutWorkers({ module, workers: 2 });
    onTestFinished(() => pool.close());
    const here = new RolloutManager(parts(), options);
    const there = pooledRollouts(pool, options);
    for (const iteration of [0, 3]) {
      const groups: [TrajectoryGroup[], TrajectoryGroup[]] = [[], []];
      for await (const group of here.collectGroups(tasks, { iteration })) groups[0].push(group);
      const told: string[] = [];
      const onGroup = ({ id }: TrajectoryGroup) => void told.push(id);
      for await (const group of there.collectGroups(tasks, { iteration, onGroup })) groups[1].push(group);
      expect(JSON.stringify(groups[1])).toBe(JSON.stringify(groups[0]));
      expect(told.toSorted()).toEqual(groups[0].map(({ id }) => id));
    }
    expect(there.takeNotes()).toEqual([]);
  });

  it('stops a job that nobody waits for any more, and listens to no signal once it is over', async () => {
    const pool = await createRolloutWorkers({ module, workers: 1, attempts: 1 });
    onTestFinished(() => pool.close());
    const controller = new AbortController();
    const { signal } = controller;
    await pool.run(job(1), { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    const stuck = { id: 'stuck', prompt: '', metadata: undefined };
    const left = pool.run({ ...job(2), task: stuck }, { signal });
    controller.abort(new Error('enough'));
    await expect(left).rejects.toThrow('enough');
    expect(await pool.run(job(3))).toEqual(await expected(job(3)));
    expect(pool.ended).toBe(0);
  });

  it('tries a job that throws once, and ends its workers at the end of its scope', async () => {
    await using pool = await createRolloutWorkers({ module, workers: 1 });
    await expect(pool.run({ ...job(1), groupId: '' })).rejects.toThrow(
      /^group job job 1: group job: groupId: /,
    );
    await pool[Symbol.asyncDispose]();
    await expect(pool.run(job(1))).rejects.toThrow('expected open threads, got closed ones');
  });

  it('hands published weights to the workers, which sample with them', async () => {
    const pool = await createRolloutWorkers({ module, workers: 2 });
    onTestFinished(() => pool.close());
    const rollouts = pooledRollouts(pool, options);
    await rollouts.updateWeights({ kind: 'adapter', version: 4, path: 'somewhere' });
    for await (const { trajectories } of rollouts.collectGroups(tasks, { iteration: 1 })) {
      expect(trajectories.map(({ policyVersion }) => policyVersion)).toEqual([4, 4, 4]);
    }
    await expect(
      rollouts.updateWeights({ kind: 'shared', version: 5, engine: {}, store: 'x' }),
    ).rejects.toThrow(/shared/);
  });

  it('makes failed trajectories of a job that no worker can do, and stops once aborted', async () => {
    const pool = await createRolloutWorkers({ module, workers: 2, kind: 'process', attempts: 2 });
    onTestFinished(() => pool.close());
    const rollouts = pooledRollouts(pool, options);
    const deadly = { id: 'die', prompt: '', metadata: undefined };
    const states: string[] = [];
    for await (const { trajectories } of rollouts.collectGroups([deadly, tasks[0]!])) {
      states.push(...trajectories.map(({ status }) => status));
    }
    expect(states).toEqual(['failed', 'failed', 'failed', 'completed', 'completed', 'completed']);
    expect(rollouts.takeNotes()).toEqual([expect.stringMatching(/tried 2 times.*exit code 7/)]);
    const aborted = AbortSignal.abort(new Error('over'));
    for await (const _ of rollouts.collectGroups(tasks, { signal: aborted })) expect.unreachable();
  });

  it('refuses modules that make nothing, jobs of another form and unknown options', async () => {
    await expect(createRolloutWorkers({ module, export: 'nothing' })).rejects.toThrow(/no environment/);
    await expect(createRolloutWorkers({ module, export: 'absent' })).rejects.toThrow(
      /exports default, nothing/,
    );
    await expect(createRolloutWorkers({ module, workers: 0 })).rejects.toThrow(/workers/);
    await expect(createRolloutWorkers({ module: './worker.ts' })).rejects.toThrow(
      'module: must be a URL: new URL("./worker.ts", import.meta.url)',
    );
    const worker = groupWorker(parts());
    await expect(worker.run({ ...job(1), groupId: '' })).rejects.toThrow(/groupId/);
    await expect(worker.run({ ...job(1), options: { groupsize: 2 } })).rejects.toThrow(/groupSize/);
  });
});
