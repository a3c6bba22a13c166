import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ArgumentError } from './errors.ts';
import {
  rolloutBatch,
  rolloutBatchSchema,
  type Sample,
  sampleSchema,
  samplesFromTrajectory,
  trajectoryFromSample,
  transformSamples,
} from './sample.ts';
import type { Step, Trajectory } from './trajectory.ts';

const tokenizer = { decode: (tokens: readonly number[]) => tokens.join(' ') };

function step(promptTokens: number[], tokens: number[], text = tokenizer.decode(tokens)): Step {
  const behaviorLogprobs = tokens.map((token) => -token / 10);
  return { promptTokens, tokens, behaviorLogprobs, text, stopReason: 'stop' };
}

function trajectory(steps: readonly Step[], fields: Partial<Trajectory> = {}): Trajectory {
  return {
    id: 'task-1/0',
    task: { id: 'task-1', prompt: 'Say it.', metadata: { answer: 'it' } },
    steps,
    messages: [],
    response: steps.at(-1)?.text ?? '',
    status: 'completed',
    policyVersion: 3,
    ...fields,
  };
}

describe('samplesFromTrajectory', () => {
  it('has no places of the samples unless they are given', () => {
    const scored = { trajectory: trajectory([step([1], [2])]), reward: 1 };
    expect(samplesFromTrajectory(scored, { index: 5 })[0]).not.toHaveProperty('groupIndex');
    expect(samplesFromTrajectory(scored, { groupIndex: 0 })[0]).not.toHaveProperty('index');
    expect(samplesFromTrajectory(scored, { index: 5, groupIndex: 0 })[0]).toMatchObject({
      index: 5,
      groupIndex: 0,
    });
  });

  it('puts a conversation that was only extended into one sequence', () => {
    const steps = [step([1, 2], [3, 4]), step([1, 2, 3, 4, 5, 6], [7])];
    expect(samplesFromTrajectory({ trajectory: trajectory(steps), reward: 1 })).toEqual([
      {
        prompt: 'Say it.',
        response: '7',
        tokens: [1, 2, 3, 4, 5, 6, 7],
        lossMask: [0, 0, 1, 1, 0, 0, 1],
        behaviorLogprobs: [0, 0, -0.3, -0.4, 0, 0, -0.7],
        reward: 1,
        metadata: { answer: 'it' },
        status: 'completed',
      },
    ]);
  });

  it('makes a sample of each turn on request, with what the policy saw before it', () => {
    const steps = [step([1, 2], [3, 4]), { ...step([1, 2, 3, 4, 5, 6], [7]), use: 'context' as const }];
    const samples = samplesFromTrajectory(
      { trajectory: trajectory(steps), reward: 1 },
      { split: 'turn', index: 3 },
    );
    expect(samples).toMatchObject([
      { index: 3, response: '3 4', tokens: [1, 2, 3, 4], lossMask: [0, 0, 1, 1] },
      { index: 4, response: '7', tokens: [1, 2, 3, 4, 5, 6, 7], lossMask: [0, 0, 0, 0, 0, 0, 0] },
    ]);
  });

  it('opens a new sequence where the history was rewritten', () => {
    const steps = [step([1, 2], [3, 4]), step([1, 2, 4, 5], [6]), step([1, 2, 4, 5, 6, 7], [8])];
    const samples = samplesFromTrajectory(
      { trajectory: trajectory(steps), reward: null },
      { index: 10, groupIndex: 2 },
    );
    expect(samples.map(({ tokens }) => tokens)).toEqual([
      [1, 2, 3, 4],
      [1, 2, 4, 5, 6, 7, 8],
    ]);
    expect(samples.map(({ lossMask }) => lossMask)).toEqual([
      [0, 0, 1, 1],
      [0, 0, 0, 0, 1, 0, 1],
    ]);
    expect(samples).toMatchObject([
      { index: 10, groupIndex: 2, reward: null, response: '3 4' },
      { index: 11, groupIndex: 2, reward: null, response: '8' },
    ]);
  });

  it('opens a new sequence where the context became shorter', () => {
    const steps = [step([1, 2], [3]), step([1, 2], [4])];
    expect(samplesFromTrajectory({ trajectory: trajectory(steps), reward: 0 })).toHaveLength(2);
  });

  it('gives nothing for a trajectory that failed before its first step', () => {
    expect(samplesFromTrajectory({ trajectory: trajectory([], { status: 'failed' }), reward: null })).toEqual(
      [],
    );
  });

  it('keeps metadata that is no record', () => {
    const task = { id: 't', prompt: '', metadata: 'plain' };
    const [sample] = samplesFromTrajectory({ trajectory: trajectory([step([1], [2])], { task }), reward: 0 });
    expect(sample?.metadata).toEqual({ metadata: 'plain' });
  });

  it('trains every sampled token once, with its own logprob, and nothing else', () => {
    const steps = fc.array(
      fc.record({
        rewritten: fc.boolean(),
        added: fc.array(fc.nat(9), { minLength: 1 }),
        tokens: fc.array(fc.nat(9)),
      }),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(steps, (moves) => {
        let context: number[] = [];
        const taken = moves.map(({ rewritten, added, tokens }) => {
          const promptTokens = [...(rewritten ? [] : context), ...added];
          context = [...promptTokens, ...tokens];
          return step(promptTokens, tokens);
        });
        const samples = samplesFromTrajectory({ trajectory: trajectory(taken), reward: 0 });
        const trained = samples.flatMap(({ tokens, lossMask, behaviorLogprobs }) =>
          tokens.flatMap((token, t) => (lossMask[t] === 1 ? [[token, behaviorLogprobs?.[t]]] : [])),
        );
        expect(trained).toEqual(
          taken.flatMap((made) => made.tokens.map((token, t) => [token, made.behaviorLogprobs[t]])),
        );
        for (const sample of samples) expect(sampleSchema.parse(sample)).toEqual(sample);
      }),
    );
  });
});

/** Samples as sampling makes them: at least one prompt token, logprobs 0 outside the mask. */
const sampledSequence: fc.Arbitrary<Sample> = fc
  .record({
    positions: fc.array(fc.record({ token: fc.nat(99), trained: fc.boolean(), logprob: fc.nat(50) }), {
      minLength: 1,
    }),
    reward: fc.option(fc.integer(), { nil: null }),
    status: fc.constantFrom('completed' as const, 'truncated' as const, 'aborted' as const),
  })
  .map(({ positions, reward, status }) => {
    const last = { token: 1, trained: true, logprob: 3 };
    const all = [{ token: 0, trained: false, logprob: 0 }, ...positions, last];
    return {
      prompt: 'Say it.',
      response: 'the end',
      tokens: all.map(({ token }) => token),
      lossMask: all.map(({ trained }): 0 | 1 => (trained ? 1 : 0)),
      behaviorLogprobs: all.map(({ trained, logprob }) => (trained && logprob > 0 ? -logprob : 0)),
      reward,
      metadata: { answer: 'it' },
      status,
    };
  });

describe('trajectoryFromSample', () => {
  it('is undone by samplesFromTrajectory', () => {
    fc.assert(
      fc.property(sampledSequence, (sample) => {
        const trajectory = trajectoryFromSample(sample, { id: 'one', policyVersion: 0, tokenizer });
        expect(samplesFromTrajectory({ trajectory, reward: sample.reward })).toEqual([sample]);
      }),
    );
  });

  it('makes each run of trained tokens a step and decodes the earlier ones', () => {
    const sample: Sample = {
      prompt: [{ role: 'user', content: 'Say it.' }],
      response: 'last',
      tokens: [1, 2, 3, 4, 5],
      lossMask: [0, 1, 1, 0, 1],
      behaviorLogprobs: [0, -1, -2, 0, -3],
      reward: 1,
      metadata: {},
      status: 'truncated',
    };
    const { steps, messages } = trajectoryFromSample(sample, { id: 'one', policyVersion: 4, tokenizer });
    expect(steps).toEqual([
      { promptTokens: [1], tokens: [2, 3], behaviorLogprobs: [-1, -2], text: '2 3', stopReason: 'stop' },
      { promptTokens: [1, 2, 3, 4], tokens: [5], behaviorLogprobs: [-3], text: 'last', stopReason: 'length' },
    ]);
    expect(messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'user: Say it.',
      'assistant: 2 3',
      'assistant: last',
    ]);
  });

  it.each([
    ['completed', 'stop'],
    ['truncated', 'length'],
    ['aborted', 'abort'],
    ['failed', 'abort'],
  ] as const)('takes the status %s as the stop reason %s of the last step', (status, stopReason) => {
    const sample = sampleSchema.parse({
      ...{ prompt: '', tokens: [1, 2], lossMask: [0, 1], behaviorLogprobs: [0, -1], status },
    });
    const { steps } = trajectoryFromSample(sample, { id: 'one', policyVersion: 0, tokenizer });
    expect(steps.at(-1)!.stopReason).toBe(stopReason);
  });

  it('refuses text that nobody sampled', () => {
    const written = sampleSchema.parse({ prompt: '', tokens: [1, 2], lossMask: [0, 1] });
    expect(() => trajectoryFromSample(written, { id: 'one', policyVersion: 0, tokenizer })).toThrow(
      ArgumentError,
    );
  });
});

it.each([
  { tokens: [1, 2], lossMask: [0] },
  { tokens: [1], lossMask: [0, 1] },
  { tokens: [1, 2], lossMask: [0, 1], behaviorLogprobs: [0] },
])('a sample needs a mask and logprobs of as many tokens: %o', (fields) => {
  const { error } = sampleSchema.safeParse({ prompt: '', ...fields });
  expect(error?.issues).toMatchObject([
    { path: ['tokens'], message: 'must be as many as lossMask and behaviorLogprobs' },
  ]);
});

it('a sample names its fields as we do', () => {
  const { error } = sampleSchema.safeParse({ prompt: '', group_index: 1 });
  expect(error?.issues).toMatchObject([{ path: ['group_index'], message: 'write it as groupIndex' }]);
});

describe('rolloutBatch', () => {
  const sample = sampleSchema.parse({
    prompt: '',
    tokens: [1, 2, 3],
    lossMask: [0, 1, 1],
    reward: 2,
    groupIndex: 0,
  });

  it('turns samples into columns', () => {
    const batch = rolloutBatch([sample, { ...sample, reward: null, groupIndex: 1 }], {
      epochId: 2,
      stepId: 5,
      metadata: { run: 'a' },
    });
    expect(batch).toEqual({
      tokens: [
        [1, 2, 3],
        [1, 2, 3],
      ],
      lossMasks: [
        [0, 1, 1],
        [0, 1, 1],
      ],
      rewards: [2, null],
      responseLengths: [2, 2],
      groupIndices: [0, 1],
      metadata: {
        epoch_id: 2,
        step_id: 5,
        batch_size: 2,
        prompts: ['', ''],
        responses: ['', ''],
        run: 'a',
      },
    });
    expect(rolloutBatchSchema.parse(JSON.parse(JSON.stringify(batch)))).toEqual(batch);
  });

  it('has a column of logprobs only if every sample has them', () => {
    const scored = { ...sample, behaviorLogprobs: [0, -1, -2] };
    expect(rolloutBatch([scored, scored]).behaviorLogprobs).toHaveLength(2);
    expect(rolloutBatch([scored, sample])).not.toHaveProperty('behaviorLogprobs');
  });

  it('has a column of groups only if every sample has one', () => {
    const { groupIndex: _, ...alone } = sample;
    expect(rolloutBatch([sample, alone])).not.toHaveProperty('groupIndices');
  });

  it('keeps given metadata where a column has the same name', () => {
    const given = { metadata: { sample_answer: 'given' } };
    expect(rolloutBatch([{ ...sample, metadata: { answer: 'a' } }], given).metadata).toMatchObject(
      given.metadata,
    );
  });

  it('has a column per metadata key of the first sample', () => {
    const batch = rolloutBatch([
      { ...sample, metadata: { answer: 'a', level: 1 } },
      { ...sample, metadata: { answer: 'b', other: true } },
    ]);
    expect(batch.metadata).toEqual({
      batch_size: 2,
      prompts: ['', ''],
      responses: ['', ''],
      sample_answer: ['a', 'b'],
      sample_level: [1, undefined],
    });
  });
});

describe('transformSamples', () => {
  const samples = ['good', 'bad', 'better'].map((response) => sampleSchema.parse({ prompt: '', response }));

  it('filters, then scores what is left, in order', async () => {
    const scored: string[] = [];
    const transformed = await transformSamples(samples, {
      filter: ({ response }) => response !== 'bad',
      reward: async ({ response }) => {
        scored.push(response);
        return response === 'good' ? response.length : null;
      },
    });
    expect(transformed.map(({ response, reward }) => [response, reward])).toEqual([
      ['good', 4],
      ['better', null],
    ]);
    expect(scored).toEqual(['good', 'better']);
    expect(samples[0]!.reward).toBe(0);
  });

  it('leaves rewards alone without a function, and refuses one that is not finite', async () => {
    expect(await transformSamples(samples, {})).toEqual(samples);
    await expect(transformSamples(samples, { reward: () => Number.NaN })).rejects.toThrow(
      'transformSamples: expected a finite number or null as the reward, got NaN',
    );
  });
});
