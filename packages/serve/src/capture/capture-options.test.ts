import { expect, it } from 'vitest';
import { type CaptureOptions, captureRollouts } from '../capture.ts';
import { scriptedPolicy } from '../served.fixture.ts';
import { ask, collect } from './captured.fixture.ts';

it('refuses answers longer than the context', () => {
  const policy = scriptedPolicy(['Yes.']);
  const sampling = { maxTokens: policy.contextLength + 1 };
  expect(() => captureRollouts({ policy, run: async () => 'done', sampling })).toThrow(
    `\`sampling.maxTokens\` is ${sampling.maxTokens}, but the sampler's context holds ${policy.contextLength}`,
  );
});

it('checks tasks and options of a collection when it is called', () => {
  const task = { id: 'a', prompt: 'a', metadata: undefined };
  const rollouts = captureRollouts({
    policy: scriptedPolicy(['a']),
    run: async () => '',
    transport: 'fetch',
  });
  expect(() => rollouts.collectGroups([task], { onGroups: 1 } as never)).toThrow('did you mean onGroup?');
  expect(() => rollouts.collectGroups(task as never)).toThrow('collectGroups: expected a list of tasks');
});

const hosts: [Partial<CaptureOptions>, RegExp][] = [
  [{}, /^http:\/\/127\.0\.0\.1:\d+\/r\//],
  [{ host: '0.0.0.0' }, /^http:\/\/127\.0\.0\.1:\d+\/r\//],
  [{ host: '0.0.0.0', hostName: 'trainer.internal' }, /^http:\/\/trainer\.internal:\d+\/r\//],
  [{ host: '::', hostName: 'fe80::1' }, /^http:\/\/\[fe80::1\]:\d+\/r\//],
];
it.each(hosts)('gives agents an address that they can reach: %j', async (options, address) => {
  const run = (_: unknown, { baseURL }: { readonly baseURL: string }) => expect(baseURL).toMatch(address);
  await collect(['hi'], run, { transport: 'http', ...options });
  expect.assertions(1);
});

it('refuses an address in place of a name', () => {
  const options = { policy: scriptedPolicy(['a']), run: () => '', hostName: 'http://trainer' };
  expect(() => captureRollouts(options)).toThrow('hostName: must be a name or an address, without http://');
});

it.each([
  [
    () => {
      throw new TypeError('bad key');
    },
    /^stateKey threw: bad key, at capture-options\.test\.ts:\d+$/,
  ],
  [() => 5 as never, /^stateKey: expected text, got 5$/],
  [() => undefined as never, /^stateKey: expected text, got undefined$/],
])('fails the episodes whose states cannot be named, and no others', async (broken, message) => {
  const { trajectories } = await collect(
    ({ text }) => (text.includes('second') ? 'b' : 'a'),
    async (_, connection) => {
      const content = connection.group.member === 1 ? 'second' : 'first';
      await ask(connection, [{ role: 'user', content }]);
    },
    { groupSize: 2, stateKey: ({ text }) => (text === 'b' ? broken() : 'known') },
  );
  expect(trajectories).toMatchObject([
    { status: 'completed', steps: [{ stateKey: 'known' }] },
    { status: 'failed', steps: [{ text: 'b' }], failure: { boundary: 'environment' } },
  ]);
  expect(trajectories[1]!.failure!.message).toMatch(message);
});
