import {
  type Completion,
  causeOf,
  type Environment,
  EnvironmentError,
  rootCause,
  type State,
  type Task,
} from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RolloutManager, type RolloutOptions } from './index.ts';
import { characters, mockEnvironment, mockPolicy, type RecordingSampler } from './testing.ts';

const task = (id: string): Task => ({ id, prompt: `${id}?`, metadata: undefined });

/** Three turns of `ok`; a response of `bad` in any of them calls `misbehave`. */
function touchy(misbehave: (state: State) => State | Promise<State>): Environment {
  const world = mockEnvironment({ turns: 3 });
  return {
    ...world,
    updateState: (state, response) =>
      response === 'bad' ? misbehave(state) : world.updateState(state, response),
  };
}

/** Members whose stream starts low say `bad` in their first turn. */
const moody = () =>
  mockPolicy({ speak: (prompt, stream) => (prompt.endsWith('0') && stream.uniform() < 0.5 ? 'bad' : 'ok') })
    .sampler;

function manage(environment: Environment, options: RolloutOptions = {}, sampler: RecordingSampler = moody()) {
  const dependencies = { environment, sampler, tokenizer: characters };
  return new RolloutManager(dependencies, { groupSize: 8, environmentTimeoutMs: 20, ...options });
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

const thrower = touchy(() => {
  throw new Error('the world broke');
});

describe('failure is data', () => {
  const misbehaviours: [string, Environment, string][] = [
    ['throws', thrower, 'environment.updateState: the world broke'],
    ['rejects', touchy(() => Promise.reject(new Error('gone'))), 'environment.updateState: gone'],
    ['hangs', touchy(() => new Promise<never>(() => {})), 'environment.updateState took longer than 20 ms'],
    [
      'gives no state',
      touchy(() => undefined as never),
      'environment.updateState: expected a state (an object with prompt, response and stepCount), got undefined',
    ],
    [
      'gives an empty state',
      touchy(() => ({}) as never),
      'environment.updateState: expected a state (an object with prompt, response and stepCount), got an object with no fields',
    ],
  ];

  it.each(misbehaviours)(
    'records an environment that %s, and its siblings live on',
    async (_, environment, message) => {
      const [group] = await collect(manage(environment).collectGroups([task('a')]));
      const failed = group!.trajectories.filter(({ status }) => status === 'failed');
      const others = group!.trajectories.filter(({ status }) => status !== 'failed');
      expect([failed.length > 0, others.length > 0]).toEqual([true, true]);
      for (const { failure, steps, response } of failed) {
        expect(failure).toEqual({ boundary: 'environment', message });
        expect([steps.length, response]).toEqual([1, 'bad']);
      }
      for (const { status, steps } of others) expect([status, steps.length]).toEqual(['completed', 3]);
    },
  );

  it('records a sampler that fails for everyone who asked it', async () => {
    const broken = moody();
    broken.sample = () => Promise.reject(new Error('out of memory'));
    const [group] = await collect(manage(thrower, { groupSize: 2 }, broken).collectGroups([task('a')]));
    expect(group!.trajectories.map(({ failure }) => failure)).toEqual(
      Array(2).fill({ boundary: 'sampler', message: 'out of memory' }),
    );
  });

  it('remembers the error behind a failure', async () => {
    const [group] = await collect(manage(thrower).collectGroups([task('a')]));
    const { failure } = group!.trajectories.find(({ status }) => status === 'failed')!;
    expect(rootCause(causeOf(failure!))).toMatchObject({ message: 'the world broke' });
  });

  it('gives up a sampler that answers nobody, and says so while it waits', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const silent = moody();
    const signals: AbortSignal[] = [];
    silent.sample = ({ signal }) => {
      signals.push(signal!);
      return new Promise(() => undefined);
    };
    const notes: string[] = [];
    const manager = manage(thrower, { groupSize: 2, samplerTimeoutMs: 70_000 }, silent);
    const collecting = collect(
      manager.collectGroups([task('a')], { onNote: (text) => void notes.push(text) }),
    );
    await vi.advanceTimersByTimeAsync(70_000);
    const [group] = await collecting;
    expect(notes).toEqual(['waiting for the sampler since 30 s', 'waiting for the sampler since 60 s']);
    expect(group!.trajectories[0]!.failure!.message).toBe('sampler.sample: had no answer for 70000 ms');
    expect([signals[0]!.aborted, vi.getTimerCount()]).toEqual([true, 0]);
  });

  it.each<[string, (completions: readonly Completion[]) => unknown, string]>([
    [
      'a policy version that is not a number',
      (all) => all.map((completion) => ({ ...completion, policyVersion: Number.NaN })),
      'completion 0 must have a number as policyVersion, got NaN',
    ],
    [
      'a stop reason of another library',
      (all) => all.map((completion) => ({ ...completion, stopReason: 'eos' })),
      'completion 0 must have one of stop, length, abort as stopReason, got "eos"',
    ],
    [
      'a token that no vocabulary has',
      (all) => all.map((completion) => ({ ...completion, tokens: completion.tokens.map(() => -1) })),
      'completion 0 must have ids of the vocabulary as tokens, got -1',
    ],
    [
      'tokens that are no list',
      (all) => all.map((completion) => ({ ...completion, tokens: undefined })),
      'completion 0 must have a list of tokens, got undefined',
    ],
    [
      'logprobs that are not there',
      (all) => all.map(({ behaviorLogprobs, ...completion }) => completion),
      'completion 0 must have one finite logprob of at most 0 per token, got undefined for',
    ],
    [
      'a text that is none',
      (all) => all.map((completion) => ({ ...completion, text: 7 })),
      'completion 0 must have a text, got 7',
    ],
    ['nothing as a completion', (all) => all.map(() => null), 'completion 0 must be an object, got null'],
    ['too few completions', (all) => all.slice(1), 'expected 8 completions, got 7'],
    ['a completion that is not in a list', ([first]) => ({ text: first!.text }), 'got an object with text'],
  ])('takes %s for a failure of the sampler', async (_, change, problem) => {
    const sampler = moody();
    const sample = sampler.sample.bind(sampler);
    sampler.sample = async (request) => change(await sample(request)) as readonly Completion[];
    const [group] = await collect(manage(thrower, {}, sampler).collectGroups([task('a')]));
    expect(group!.trajectories[0]!.failure!.message).toContain(problem);
  });

  it('says that no completions came', async () => {
    const odd = moody();
    odd.sample = async () => undefined as never;
    const [group] = await collect(manage(thrower, { groupSize: 1 }, odd).collectGroups([task('a')]));
    expect(group!.trajectories[0]!.failure!.message).toBe(
      'sampler.sample: expected 1 completions, got undefined',
    );
  });

  it.each([undefined, [{}], [null]])(
    'takes %j instead of completions for a failure of the sampler',
    async (given) => {
      const odd = moody();
      odd.sample = async () => given as never;
      const [group] = await collect(manage(thrower, { groupSize: 1 }, odd).collectGroups([task('a')]));
      expect(group!.trajectories[0]!.failure?.boundary).toBe('sampler');
    },
  );

  it.each([
    [[-1], '1 for 3 tokens'],
    [[-1, Number.NaN, -1], 'NaN'],
    [[-1, 0.5, -1], '0.5'],
    [[-1, Number.NEGATIVE_INFINITY, -1], '-Infinity'],
  ])('takes logprobs of %j for a failure of the sampler', async (behaviorLogprobs, came) => {
    const odd = moody();
    const sample = odd.sample.bind(odd);
    odd.sample = async (request) => (await sample(request)).map((one) => ({ ...one, behaviorLogprobs }));
    const options = { groupSize: 1, sampling: { maxTokens: 3 } };
    const [group] = await collect(manage(mockEnvironment(), options, odd).collectGroups([task('a')]));
    expect(group!.trajectories[0]!.failure).toEqual({
      boundary: 'sampler',
      message: `sampler.sample: completion 0 must have one finite logprob of at most 0 per token, got ${came}`,
    });
  });

  it('takes tokens outside the vocabulary of the sampler for a failure of the sampler', async () => {
    const sampler = Object.assign(moody(), { vocabularySize: 3 });
    const sample = sampler.sample.bind(sampler);
    sampler.sample = async (request) =>
      (await sample(request)).map((one) => ({ ...one, tokens: one.tokens.map(() => 3) }));
    const [group] = await collect(
      manage(mockEnvironment(), { groupSize: 1 }, sampler).collectGroups([task('a')]),
    );
    expect(group!.trajectories[0]!.failure!.message).toBe(
      'sampler.sample: completion 0 must have ids of the vocabulary below 3 as tokens, got 3',
    );
  });

  it('takes logprobs of 0, which are those of tokens that were certain', async () => {
    const sure = moody();
    const sample = sure.sample.bind(sure);
    sure.sample = async (request) =>
      (await sample(request)).map((one) => ({ ...one, behaviorLogprobs: one.tokens.map(() => 0) }));
    const [group] = await collect(
      manage(mockEnvironment(), { groupSize: 1 }, sure).collectGroups([task('a')]),
    );
    expect(group!.trajectories[0]).toMatchObject({ status: 'completed', steps: [{}] });
  });

  it.each(['buildPrompt', 'isTerminal', 'reset'] as const)('attributes an error in %s', async (method) => {
    const environment = {
      ...thrower,
      [method]: () => {
        throw new Error('oops');
      },
    };
    const [group] = await collect(manage(environment).collectGroups([task('a')]));
    expect(group!.trajectories.map(({ failure }) => failure?.message)).toEqual(
      Array(8).fill(`environment.${method}: oops`),
    );
  });

  it('counts failures by boundary', async () => {
    const manager = manage(thrower);
    const [group] = await collect(manager.collectGroups([task('a')]));
    const failed = group!.trajectories.filter(({ status }) => status === 'failed').length;
    const { byStatus, failures, lastFailure } = manager.getStatistics();
    expect([byStatus.failed, failures]).toEqual([failed, { environment: failed, sampler: 0 }]);
    expect(lastFailure).toBe('environment.updateState: the world broke');
  });
});

describe('onFailure', () => {
  it('drop-member takes failed members out and keeps the places of the others', async () => {
    const manager = manage(thrower, { onFailure: 'drop-member' });
    const [group] = await collect(manager.collectGroups([task('a')]));
    expect(group!.trajectories.every(({ status }) => status === 'completed')).toBe(true);
    expect(manager.getStatistics().dropped).toEqual({
      groups: 0,
      trajectories: 8 - group!.trajectories.length,
    });
    for (const { group: place, id } of group!.trajectories) expect(id).toBe(`0/a/${place!.member}`);
  });

  it('drop-group leaves the whole group out', async () => {
    const manager = manage(thrower, { onFailure: 'drop-group' });
    expect(await collect(manager.collectGroups([task('a')]))).toEqual([]);
    expect(manager.getStatistics().dropped).toEqual({ groups: 1, trajectories: 8 });
  });

  it('stop throws the error', async () => {
    const manager = manage(thrower, { onFailure: 'stop' });
    await expect(collect(manager.collectGroups([task('a')]))).rejects.toThrow(EnvironmentError);
  });
});

describe('abort', () => {
  const calm = touchy((state) => state);

  it('ends with what there was, at whatever point it comes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(8), fc.nat(3), async (stopAfter, delay) => {
        const controller = new AbortController();
        const reason = new Error('enough');
        let requests = 0;
        const { sampler } = mockPolicy({
          speak: () => 'ok',
          delay: () => {
            if (++requests === stopAfter) controller.abort(reason);
            return delay;
          },
        });
        const manager = manage(calm, { groupSize: 2, concurrency: 2 }, sampler);
        const tasks = ['a', 'b', 'c'].map(task);
        const groups = await collect(manager.collectGroups(tasks, { signal: controller.signal }));
        for (const { trajectories } of groups) {
          expect(trajectories).toHaveLength(2);
          for (const { status, steps, failure } of trajectories) {
            expect(failure).toBeUndefined();
            expect(status).toBe(steps.length === 3 ? 'completed' : 'aborted');
          }
        }
        if (!controller.signal.aborted) expect(groups).toHaveLength(3);
      }),
      { numRuns: 30 },
    );
  });

  it('does not wait for a sampler or an environment that does not heed it', async () => {
    const deaf = moody();
    deaf.sample = () => new Promise<never>(() => {});
    const hanging = { ...calm, reset: () => new Promise<never>(() => {}) };
    for (const manager of [manage(calm, {}, deaf), manage(hanging, { environmentTimeoutMs: 60_000 })]) {
      const controller = new AbortController();
      const collecting = collect(manager.collectGroups([task('a')], { signal: controller.signal }));
      controller.abort();
      const [group] = await collecting;
      for (const { status } of group?.trajectories ?? []) expect(status).toBe('aborted');
    }
  });

  it('begins nothing when it came before', async () => {
    const sampler = moody();
    const manager = manage(calm, {}, sampler);
    expect(await collect(manager.collectGroups([task('a')], { signal: AbortSignal.abort() }))).toEqual([]);
    expect(sampler.requests).toEqual([]);
  });

  it('stops what is under way when the consumer leaves', async () => {
    const { sampler } = mockPolicy({ speak: () => 'ok', delay: () => 1 });
    const manager = manage(calm, { groupSize: 1, concurrency: 2 }, sampler);
    for await (const _ of manager.collectGroups(Array.from({ length: 50 }, (_, index) => task(`t${index}`))))
      break;
    const asked = sampler.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(sampler.requests.length).toBe(asked);
    expect(asked).toBeLessThan(20);
  });
});
