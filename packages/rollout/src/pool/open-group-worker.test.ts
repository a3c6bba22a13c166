import { expect, it } from 'vitest';
import { groupWorker } from './group-worker.ts';
import parts from './letters.worker.fixture.ts';
import { openGroupWorker } from './open-group-worker.ts';

const module = new URL('./letters.worker.fixture.ts', import.meta.url).href;
const options = { groupSize: 2, seed: 'pool', sampling: { maxTokens: 8 } };
const job = { name: 'a', groupId: '0/a', options, task: { id: 'a', prompt: 'Say a.', metadata: null } };

it('runs jobs with what the export of a module returns', async () => {
  const { answer } = await openGroupWorker({ module, exportName: 'default' });
  const group = await answer(job);
  expect(group).toEqual(await groupWorker(parts()).run(job));
  expect(group.trajectories).toHaveLength(2);
});

it.each([
  ['nothing', 'got no environment; the module exports default, nothing'],
  [
    'other',
    'to be a function that returns environment, sampler and tokenizer, got undefined; the module exports',
  ],
])('says what is wrong with the export %s', async (exportName, message) => {
  await expect(openGroupWorker({ module, exportName })).rejects.toThrow(message);
});

it('says of a module without exports that it has none', async () => {
  const empty = 'data:text/javascript,';
  await expect(openGroupWorker({ module: empty, exportName: 'default' })).rejects.toThrow(
    'expected the export "default" to be a function that returns environment, sampler and tokenizer, got undefined; the module exports nothing',
  );
});

it('takes over weights once, and refuses jobs that it cannot do', async () => {
  let taken = 0;
  const { inference, ...own } = parts();
  const counted = {
    ...inference!,
    updateWeights: (...given: Parameters<NonNullable<typeof inference>['updateWeights']>) => {
      taken += 1;
      return inference!.updateWeights(...given);
    },
  };
  const published = { ...job, publication: { kind: 'adapter', version: 3, path: '/weights' } } as const;
  const worker = groupWorker({ ...own, inference: counted });
  for (const name of ['first', 'second']) {
    const { trajectories } = await worker.run({ ...published, name });
    expect(trajectories.map(({ policyVersion }) => policyVersion)).toEqual([3, 3]);
  }
  expect(taken).toBe(1);
  const { inference: _, ...alone } = parts();
  await expect(groupWorker(alone).run(published)).rejects.toThrow('got one without `inference`');
  await expect(worker.run({ ...job, groupId: '' })).rejects.toThrow(
    /^group job: groupId: .*; give controller/,
  );
  await expect(worker.run(null as never)).rejects.toThrow(/^group job: the job: /);
  await expect(worker.run(job, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  expect((await worker.run(job)).id).toBe('0/a');
});

it('gives an empty group if its failure policy leaves out everything', async () => {
  const own = parts();
  const broken = { ...own.environment, reset: () => Promise.reject(new Error('no world')) };
  const dropping = { ...job, options: { ...options, onFailure: 'drop-group' } };
  expect(await groupWorker({ ...own, environment: broken as never }).run(dropping)).toEqual({
    id: '0/a',
    task: job.task,
    trajectories: [],
  });
});
