import { evaluationSchema, OptionsError, type Task } from '@rlp/core';
import { SimpleTextEnvironment } from '@rlp/env';
import { RolloutManager } from '@rlp/rollout';
import { mockPolicy } from '@rlp/rollout/testing';
import { describe, expect, it } from 'vitest';
import { evaluate } from '../evaluate.ts';
import { majorityAtK } from './majority.ts';

interface Sum {
  readonly answer: string;
  readonly kind: string;
}

const tasks: Task<Sum>[] = Array.from({ length: 20 }, (_, task) => ({
  id: `${task}`,
  prompt: `${task}+1=`,
  metadata: { answer: String(task + 1), kind: task % 2 ? 'odd' : 'even' },
}));

/** Right for tasks below 15. */
const steady = mockPolicy({
  speak: (prompt) => (Number.parseInt(prompt, 10) < 15 ? String(Number.parseInt(prompt, 10) + 1) : 'no idea'),
});
/** Right with the probability (task + 1) / 20. */
const chancy = mockPolicy({
  speak: (prompt, stream) => {
    const task = Number.parseInt(prompt, 10);
    return stream.uniform() < (task + 1) / 20 ? String(task + 1) : `wrong ${stream.integer(2)}`;
  },
});
const rewards = {
  right: ({ task, response }: { task: Task<Sum>; response: string }) =>
    Number(response === task.metadata.answer),
};

describe('evaluate', () => {
  it('counts right answers, with an interval, lengths and a record that its schema takes', async () => {
    const record = await evaluate({ policy: steady, tasks, rewards, category: 'kind' });
    expect(record).toMatchObject({
      record: 'evaluation',
      accuracy: 0.75,
      interval: 'wilson',
      reward: { value: 0.75, tasks: 20 },
      components: { right: { value: 0.75 } },
      unscored: { count: 0, causes: {} },
      lengths: { max: 8 },
      truncated: 0,
      notes: [],
    });
    // scipy: stats.binomtest(15, 20).proportion_ci(0.95, method='wilson')
    expect([record.low, record.high]).toEqual([
      expect.closeTo(0.5312991223812561, 8),
      expect.closeTo(0.8881382985923344, 8),
    ]);
    expect(record.categories?.even?.accuracy?.value).toBeCloseTo(0.8, 12);
    expect(record.categories?.odd?.accuracy?.value).toBeCloseTo(0.7, 12);
    expect(record).not.toHaveProperty('passAt');
    expect(evaluationSchema.parse(JSON.parse(JSON.stringify(record)))).toEqual(record);
    expect(steady.sampler.requests.every(({ temperature }) => temperature === 0)).toBe(true);
  });

  it('says which characters of the tasks the tokenizer lacks', async () => {
    const tokenizer = {
      ...steady.tokenizer,
      encode: (text: string, options?: object) => steady.tokenizer.encode(text.replaceAll('7', ''), options),
    };
    const { notes } = await evaluate({ policy: { ...steady, tokenizer }, tasks, rewards });
    expect(notes).toEqual([
      expect.stringContaining('lacks 1 character (7) of 2 prompts and 2 answers of the 20'),
    ]);
  });

  it('gives pass@k and maj@k of several samples, and intervals over tasks', async () => {
    const record = await evaluate({
      policy: chancy,
      tasks,
      rewards,
      samples: 8,
      k: [1, 4, 8],
      answer: (response) => (response.startsWith('wrong') ? undefined : response),
    });
    expect(record.interval).toBe('wilson-clustered');
    expect(record.passAt?.['1']?.value).toBeCloseTo(record.accuracy!, 12);
    expect(record.passAt?.['1']?.low).toBeCloseTo(record.low!, 12);
    const anyRight = record.tasks.filter(({ correct }) => correct!.includes(true)).length;
    expect(record.passAt?.['8']?.value).toBeCloseTo(anyRight / 20, 12);
    expect(record.passAt!['4']!.value).toBeGreaterThan(record.accuracy!);
    // Wrong answers have no vote, so one right answer wins.
    expect(record.majorityAt?.['8']?.value).toBe(record.passAt?.['8']?.value);
    expect(record.passAt?.['4']).toMatchObject({ tasks: 20, responses: 160 });
  });

  it('measures what a collector brings', async () => {
    const settings = { rewards, k: [2], name: 'own' };
    const environment = new SimpleTextEnvironment<Sum>();
    const rollouts = new RolloutManager({ ...chancy, environment }, { groupSize: 4, seed: 'a' });
    const collected = await evaluate({ ...settings, tasks, rollouts });
    expect(collected).toEqual(await evaluate({ ...settings, tasks, policy: chancy, samples: 4, seed: 'a' }));
    const unsized = { options: { sampling: { temperature: 1 } }, collectGroups: rollouts.collectGroups };
    await expect(evaluate({ tasks, rollouts: unsized as never })).rejects.toThrow('have a groupSize');
    await expect(evaluate({ tasks, rollouts, sampling: {} } as never)).rejects.toThrow('sampling');
  });

  it('is a function of seed and weights, whatever runs at once', async () => {
    const shared = { policy: chancy, tasks, rewards, samples: 3 };
    const [one, two, other] = await Promise.all([
      evaluate({ ...shared, concurrency: 1 }),
      evaluate({ ...shared, concurrency: 20 }),
      evaluate({ ...shared, seed: 'other' }),
    ]);
    expect(one).toEqual(two);
    expect(one.tasks.map(({ rewards }) => rewards)).not.toEqual(other.tasks.map(({ rewards }) => rewards));
  });

  it('leaves out what a reward could not score, and says so', async () => {
    const broken = {
      right: ({ task, response }: { task: Task<Sum>; response: string }) => {
        if (Number(task.id) >= 15) throw new Error('the judge is away');
        return Number(response === task.metadata.answer);
      },
    };
    const record = await evaluate({ policy: steady, tasks, rewards: broken });
    expect(record).toMatchObject({ accuracy: 1, reward: { tasks: 15 } });
    expect(record.unscored).toEqual({
      count: 5,
      causes: { 'reward "right": the judge is away': 5 },
    });
    expect(record.notes).toEqual([
      expect.stringMatching(/^5 of 20 responses have no score.*the judge is away/),
    ]);
  });

  it('has no numbers where nothing was scored', async () => {
    const nowhere = { sampler: { policyVersion: 3, sample: () => Promise.reject(new Error('no engine')) } };
    const record = await evaluate({ policy: { ...steady, ...nowhere }, tasks, rewards, samples: 2, k: [2] });
    for (const name of ['accuracy', 'low', 'high', 'reward', 'passAt', 'lengths', 'truncated']) {
      expect(record).not.toHaveProperty(name);
    }
    expect(record).toMatchObject({ policyVersion: 3, components: {}, unscored: { count: 40 } });
    expect(Object.keys(record.unscored.causes)[0]).toContain('no engine');
    expect(evaluationSchema.safeParse(record).success).toBe(true);
  });

  it('survives a reward computer that rejects', async () => {
    const computer = { computeRewards: () => Promise.reject(new Error('no net')) };
    const record = await evaluate({ policy: steady, tasks, rewards: computer });
    expect(record.unscored.causes).toEqual({ 'reward "rewards" threw: no net': 20 });
  });

  it('has no accuracy for graded scores, unless told what is right', async () => {
    const graded = { close: ({ task }: { task: Task<Sum> }) => Number(task.id) / 20 };
    const shared = { policy: steady, tasks, rewards: graded };
    expect(await evaluate(shared)).not.toHaveProperty('accuracy');
    expect(await evaluate(shared)).toMatchObject({
      reward: { interval: 't', value: expect.closeTo(0.475, 12) },
    });
    expect(await evaluate({ ...shared, correctFrom: 0.5 })).toMatchObject({ accuracy: 0.5 });
    const parts = { ...rewards, close: { reward: graded.close, weight: 0.5 } };
    expect(await evaluate({ ...shared, rewards: parts, metric: 'right' })).toMatchObject({ accuracy: 0.75 });
  });

  it('reads the score of the outcome of an environment, over several turns', async () => {
    const environment = {
      reset: ({ prompt }: Task) => ({ prompt, response: '', stepCount: 0 }),
      buildPrompt: ({ prompt, stepCount }: { prompt: unknown; stepCount: number }) => `${prompt}${stepCount}`,
      updateState: <S extends { stepCount: number }>(state: S, response: string) => ({
        ...state,
        response,
        stepCount: state.stepCount + 1,
      }),
      isTerminal: ({ stepCount }: { stepCount: number }) => stepCount >= 2,
      outcome: ({ response }: { response: string }) => ({ score: response === 'no idea' ? 0 : 1 }),
    };
    const record = await evaluate({ policy: steady, tasks, environment });
    expect(record).toMatchObject({ accuracy: expect.any(Number), unscored: { count: 0 } });
    const silent = await evaluate({ policy: steady, tasks });
    expect(silent.notes[0]).toContain('the environment gives no outcome with a score; pass rewards');
  });

  it('counts responses that the limit on tokens cut', async () => {
    const record = await evaluate({ policy: steady, tasks, rewards, sampling: { maxTokens: 4 } });
    expect(record).toMatchObject({ truncated: 0.25, lengths: { max: 4 } });
  });

  it('stops at its deadline and says what is missing', async () => {
    const slow = mockPolicy({ speak: () => '1', delay: ({ prompt }) => (prompt[0] === 48 ? 0 : 60_000) });
    const record = await evaluate({ policy: slow, tasks, rewards, timeoutMs: 100, concurrency: 2 });
    expect(record.unscored.count).toBe(19);
    expect(record.notes[0]).toContain('stopped after 100 ms');
    expect(record.accuracy).toBe(1);
  });

  it('rejects with the reason of the signal', async () => {
    const stop = new AbortController();
    const slow = mockPolicy({ delay: () => 60_000 });
    const evaluating = evaluate({ policy: slow, tasks, rewards, signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(evaluating).rejects.toThrow('enough');
    await expect(evaluate({ policy: slow, tasks, rewards, signal: stop.signal })).rejects.toThrow('enough');
  });

  it('says what a policy and tasks are', async () => {
    const wrong = (options: object) => evaluate({ tasks, rewards: { r: () => 1 }, ...options } as never);
    await expect(wrong({})).rejects.toThrow(
      'evaluate: expected policy: { sampler, tokenizer, chat }, or rollouts',
    );
    await expect(wrong({ policy: steady.sampler })).rejects.toThrow(
      'of an InferenceModule give { sampler: module',
    );
    await expect(wrong({ policy: steady, tasks: { take: () => tasks } })).rejects.toThrow(
      'evaluate: expected a list of tasks; of a task source give source.take(100)',
    );
  });

  it('refuses bad options at once', async () => {
    const refused = (options: object) =>
      evaluate({ policy: steady, tasks, rewards, ...options }).catch((error: unknown) => error);
    const error = await refused({ samples: 2, k: [4], confidence: 95, smaples: 3 });
    expect(error).toBeInstanceOf(OptionsError);
    expect(String(error)).toMatch(/confidence[\s\S]*smaples/);
    expect(String(await refused({ samples: 2, k: [4] }))).toContain('k: must not be larger than samples');
    expect(String(await refused({ tasks: [] }))).toContain('expected at least one task');
    expect(String(await refused({ tasks: [tasks[0], tasks[0]] }))).toContain('two tasks have the id "0"');
    expect(String(await refused({ metric: 'wrong' }))).toContain('one of right, got "wrong"');
    expect(String(await refused({ category: 'level' }))).toContain('metadata.level');
  });
});

describe('majorityAtK', () => {
  it('takes the most frequent answer of each block, and shares ties', () => {
    const votes = { answers: ['a', 'b', 'b', 'c', 'a', undefined], correct: [1, 0, 0, 0, 1, 0] };
    expect(majorityAtK(votes, 3)).toEqual([0, 0.5]);
    expect(majorityAtK(votes, 6)).toEqual([0.5]);
    expect(majorityAtK({ answers: [undefined], correct: [0] }, 1)).toEqual([0]);
    expect(majorityAtK(votes, 7)).toEqual([]);
  });
});
