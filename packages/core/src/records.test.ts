import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import {
  actionSchema,
  evaluateResultSchema,
  findingSchema,
  messageSchema,
  rolloutBatchSchema,
  sampleSchema,
  stepDataSchema,
  stepSchema,
  taskDefinitionSchema,
  taskSchema,
  trajectoryGroupSchema,
  trajectorySchema,
  verificationReportSchema,
} from './index.ts';

const message = fc.record(
  {
    role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
    content: fc.string(),
    name: fc.string(),
    tool_calls: fc.array(
      fc.record({
        id: fc.string(),
        type: fc.constant('function'),
        function: fc.record({ name: fc.string(), arguments: fc.json() }),
      }),
      { maxLength: 2 },
    ),
    tool_call_id: fc.string(),
    function_call: fc.record({ name: fc.string(), arguments: fc.json() }),
  },
  { requiredKeys: ['role', 'content'] },
);
const prompt = fc.oneof(fc.string(), fc.array(message, { maxLength: 3 }));
const metadata = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
const task = fc.record({ id: fc.string(), prompt, metadata });
const logprob = fc.double({ max: 0, min: -50, noNaN: true }).map((x) => (Object.is(x, -0) ? 0 : x));
const sampled = fc.array(fc.tuple(fc.nat(), logprob), { maxLength: 5 });
const status = fc.constantFrom('pending', 'completed', 'truncated', 'aborted', 'failed');
const step = fc
  .record(
    {
      promptTokens: fc.array(fc.nat(), { maxLength: 5 }),
      sampled,
      text: fc.string(),
      stopReason: fc.constantFrom('stop', 'length', 'abort'),
      value: fc.integer(),
      stateKey: fc.string(),
      reward: fc.integer(),
    },
    { requiredKeys: ['promptTokens', 'sampled', 'text', 'stopReason'] },
  )
  .map(({ sampled, ...rest }) => ({
    ...rest,
    tokens: sampled.map(([token]) => token),
    behaviorLogprobs: sampled.map(([, logprob]) => logprob),
  }));
const trajectory = fc.record(
  {
    id: fc.string(),
    task,
    steps: fc.array(step, { maxLength: 3 }),
    messages: fc.array(message, { maxLength: 3 }),
    response: fc.string(),
    status,
    policyVersion: fc.nat(),
    group: fc.record({ id: fc.string(), member: fc.nat() }),
    failure: fc.record({
      boundary: fc.constantFrom('environment', 'sampler', 'reward'),
      message: fc.string(),
    }),
  },
  { requiredKeys: ['id', 'task', 'steps', 'messages', 'response', 'status', 'policyVersion'] },
);

const records: readonly (readonly [string, z.ZodType, fc.Arbitrary<unknown>])[] = [
  ['message', messageSchema, message],
  ['task', taskSchema, task],
  ['step', stepSchema, step],
  ['trajectory', trajectorySchema, trajectory],
  [
    'trajectory group',
    trajectoryGroupSchema,
    fc.record({ id: fc.string(), task, trajectories: fc.array(trajectory, { maxLength: 2 }) }),
  ],
  [
    'verification report',
    verificationReportSchema,
    fc.record({
      result: fc.constantFrom('pass', 'warning', 'fail'),
      score: fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10),
      details: metadata,
      message: fc.string(),
    }),
  ],
  [
    'finding',
    findingSchema,
    fc.record({
      rule: fc.string(),
      severity: fc.constantFrom('low', 'medium', 'high', 'critical'),
      message: fc.string(),
      evidence: fc.dictionary(fc.string(), fc.integer(), { maxKeys: 3 }),
      iteration: fc.nat(),
    }),
  ],
];

/** What a file or a socket does to a record. */
const sent = (record: unknown): unknown => JSON.parse(JSON.stringify(record));

describe('schemas', () => {
  it.each(records)('give back a %s that was sent as JSON', (_, schema, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (record) => {
        expect(schema.parse(sent(record))).toEqual(sent(record));
      }),
      { numRuns: 50 },
    );
  });

  it('refuse a step whose logprobs are not one per token', () => {
    const bad = { promptTokens: [1], tokens: [2, 3], behaviorLogprobs: [-1], text: '', stopReason: 'stop' };
    expect(stepSchema.safeParse(bad).error?.issues).toMatchObject([
      { path: ['behaviorLogprobs'], message: 'must hold one logprob per token' },
    ]);
  });

  it.each([
    [
      'a positive logprob',
      { promptTokens: [], tokens: [1], behaviorLogprobs: [0.1], text: '', stopReason: 'stop' },
    ],
    [
      'a token that is no index',
      { promptTokens: [-1], tokens: [], behaviorLogprobs: [], text: '', stopReason: 'stop' },
    ],
    [
      'a stop reason nobody knows',
      { promptTokens: [], tokens: [], behaviorLogprobs: [], text: '', stopReason: 'end' },
    ],
  ])('refuse a step with %s', (_, bad) => {
    expect(stepSchema.safeParse(bad).success).toBe(false);
  });

  it('fill in what the original sample leaves out', () => {
    expect(sampleSchema.parse({ prompt: 'Add 1 and 2.' })).toEqual({
      prompt: 'Add 1 and 2.',
      response: '',
      tokens: [],
      lossMask: [],
      reward: 0,
      metadata: {},
      status: 'pending',
    });
  });

  it.each([
    ['lossMask', { prompt: '', tokens: [1, 2], lossMask: [1] }],
    ['behaviorLogprobs', { prompt: '', tokens: [1], lossMask: [1], behaviorLogprobs: [-1, -1] }],
  ])('refuse a sample whose %s is not aligned with its tokens', (_, bad) => {
    expect(sampleSchema.safeParse(bad).success).toBe(false);
  });

  it('refuse a rollout batch with a mask of anything but 0 and 1', () => {
    const batch = { tokens: [[1]], lossMasks: [[2]], rewards: [0], responseLengths: [1] };
    expect(rolloutBatchSchema.safeParse(batch).success).toBe(false);
  });

  it('take tool arguments as JSON text, as an object, and under the older name', () => {
    const call = { type: 'tool_call', name: 'search', arguments: '{"q":"onnx"}' };
    const parsed = [
      call,
      { ...call, arguments: { q: 'onnx' } },
      { type: 'tool_call', name: 'search', args: { q: 'onnx' } },
    ];
    for (const given of parsed) expect(actionSchema.parse(given)).toEqual(call);
    expect(actionSchema.parse({ type: 'tool_call', name: 'now' })).toEqual({
      type: 'tool_call',
      name: 'now',
      arguments: '{}',
    });
    expect(actionSchema.safeParse('terminate').success).toBe(false);
  });

  it('keep further fields of step data', () => {
    const step = {
      systemStepIndex: 0,
      observationData: null,
      actionTaken: { type: 'terminate' },
      resultingMessagesHistory: [],
    };
    expect(stepDataSchema.parse({ ...step, mine: 1 })).toEqual({
      ...step,
      isDone: false,
      stepInfo: {},
      mine: 1,
    });
  });

  it('take a bare score as a full judgement', () => {
    expect(evaluateResultSchema.parse({ score: 0.5 })).toEqual({
      score: 0.5,
      isScoreValid: true,
      metrics: {},
    });
  });

  it.each([
    ['neither beginning', {}],
    ['both beginnings', { initialUserPrompt: 'Go.', initialMessages: [{ role: 'user', content: 'Go.' }] }],
    ['a broken pattern', { initialUserPrompt: 'Go.', terminationPattern: '(' }],
    ['a misspelled field', { initialUserPrompt: 'Go.', terminationRegex: 'x' }],
  ])('refuse a task definition with %s', (_, fields) => {
    const definition = { name: 'maze', resourceType: 'grid', rewardFunctionPath: './reward.ts', ...fields };
    expect(taskDefinitionSchema.safeParse(definition).success).toBe(false);
  });
});
