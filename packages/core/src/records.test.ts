import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Message,
  messageSchema,
  recordJsonSchema,
  recordNames,
  type Step,
  stepSchema,
  type Task,
  type ToolCall,
  type Trajectory,
  type TrajectoryGroup,
  taskSchema,
  trajectoryGroupSchema,
  trajectorySchema,
} from './index.ts';

const some = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const tokens = fc.array(fc.nat(), { maxLength: 5 });

const toolCall: fc.Arbitrary<ToolCall> = fc.record({
  id: fc.string(),
  type: fc.constant('function' as const),
  function: fc.record({ name: fc.string(), arguments: fc.string() }),
});

const message: fc.Arbitrary<Message> = fc.record(
  {
    role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
    content: fc.string({ unit: 'grapheme' }),
    name: fc.string(),
    tool_call_id: fc.string(),
    tool_calls: fc.array(toolCall, { maxLength: 2 }),
  },
  { requiredKeys: ['role', 'content'] },
);

const task: fc.Arbitrary<Task> = fc.record({
  id: fc.string(),
  prompt: fc.oneof(fc.string(), fc.array(message, { maxLength: 3 })),
  metadata: fc.oneof(
    fc.constant(undefined),
    fc.constant(null),
    fc.record({ answer: fc.string() }),
    fc.integer(),
  ),
});

const step: fc.Arbitrary<Step> = fc
  .record({
    sampled: fc.array(fc.tuple(fc.nat(), number), { maxLength: 5 }),
    promptTokens: tokens,
    extra: fc.record(
      {
        stateKey: fc.string(),
        policyVersion: fc.nat(),
        observation: fc.oneof(fc.string(), fc.array(message, { maxLength: 2 })),
        toolCalls: fc.array(toolCall, { maxLength: 2 }),
        timing: fc.record({ sampleMs: number, environmentMs: number }, { requiredKeys: ['sampleMs'] }),
      },
      { requiredKeys: [] },
    ),
  })
  .chain(({ sampled, promptTokens, extra }) =>
    fc.record({
      promptTokens: fc.constant(promptTokens),
      tokens: fc.constant(sampled.map(([token]) => token)),
      behaviorLogprobs: fc.constant(sampled.map(([, value]) => -Math.abs(value) + 0)),
      text: fc.string(),
      stopReason: fc.constantFrom('stop' as const, 'length' as const, 'abort' as const),
      value: some(number),
      reward: some(number),
      ...Object.fromEntries(Object.entries(extra).map(([key, value]) => [key, fc.constant(value)])),
    }),
  );

const trajectory: fc.Arbitrary<Trajectory> = fc.record({
  id: fc.string(),
  task,
  steps: fc.array(step, { maxLength: 3 }),
  messages: fc.array(message, { maxLength: 3 }),
  response: fc.string(),
  status: fc.constantFrom('pending', 'completed', 'truncated', 'aborted', 'failed'),
  policyVersion: fc.nat(),
  termination: some(
    fc.record(
      {
        reason: fc.constantFrom(
          'environment',
          'turns',
          'tokens',
          'pattern',
          'terminate',
          'budget',
          'error',
          'aborted',
        ),
        detail: fc.string(),
      },
      { requiredKeys: ['reason'] },
    ),
  ),
  outcome: fc.oneof(fc.constant(undefined), fc.record({ solved: fc.boolean() })),
  metrics: some(
    fc.dictionary(
      fc.string().filter((key) => key !== '__proto__'),
      number,
    ),
  ),
  state: fc.oneof(fc.constant(undefined), fc.record({ stepCount: fc.nat() })),
  group: some(fc.record({ id: fc.string(), member: fc.nat() })),
  failure: some(
    fc.record({ boundary: fc.constantFrom('environment', 'sampler', 'reward'), message: fc.string() }),
  ),
});

const group: fc.Arbitrary<TrajectoryGroup> = fc.record({
  id: fc.string(),
  task,
  trajectories: fc.array(trajectory, { maxLength: 2 }),
});

describe('records', () => {
  it.each([
    ['Message', messageSchema, message],
    ['Task', taskSchema, task],
    ['Step', stepSchema, step],
    ['Trajectory', trajectorySchema, trajectory],
    ['TrajectoryGroup', trajectoryGroupSchema, group],
  ] as const)('%s comes back from JSON as it went', (_, schema, arbitrary) => {
    fc.assert(
      fc.property(arbitrary as fc.Arbitrary<unknown>, (record) => {
        const line = JSON.stringify(record);
        expect(line).not.toContain('\n');
        expect(schema.parse(JSON.parse(line))).toEqual(record);
      }),
      { numRuns: 60 },
    );
  });

  it.each(recordNames)('%s has a JSON Schema', (name) => {
    const schema = recordJsonSchema(name);
    expect(schema).toMatchObject({ title: name, $schema: 'https://json-schema.org/draft/2020-12/schema' });
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
  });

  it.each(['trajectory', 'constructor'])('a name of no record is refused: %s', (name) => {
    expect(() => recordJsonSchema(name as 'Trajectory')).toThrow(/one of .*, Trajectory, .*, got/);
  });

  it('the JSON Schema of a trajectory requires what its reader requires, and allows nothing else', () => {
    const { properties, required, additionalProperties } = recordJsonSchema('Trajectory') as {
      properties: Record<string, { enum?: string[]; properties?: Record<string, { enum?: string[] }> }>;
      required: string[];
      additionalProperties: boolean;
    };
    expect(required).toEqual(['id', 'task', 'steps', 'messages', 'response', 'status', 'policyVersion']);
    expect(additionalProperties).toBe(false);
    expect(properties.termination?.properties?.reason?.enum).toContain('budget');
  });

  const sound: Step = {
    promptTokens: [1],
    tokens: [2, 3],
    behaviorLogprobs: [-0.5, -0.25],
    text: 'x',
    stopReason: 'stop',
  };

  it.each([
    ['a logprob above 0', { behaviorLogprobs: [-0.5, 0.25] }, ['behaviorLogprobs', 1]],
    ['a logprob that is missing', { behaviorLogprobs: [-0.5] }, ['behaviorLogprobs']],
    [
      'a logprob that is not finite',
      { behaviorLogprobs: [-0.5, Number.NEGATIVE_INFINITY] },
      ['behaviorLogprobs', 1],
    ],
    ['a token that is no integer', { tokens: [2, 3.5] }, ['tokens', 1]],
    ['a negative token', { promptTokens: [-1] }, ['promptTokens', 0]],
    ['a field that no step has', { logprobs: [-0.5, -0.25] }, []],
    ['an unknown stop reason', { stopReason: 'eos' }, ['stopReason']],
    ['a reward that is not a number', { reward: 'good' }, ['reward']],
  ])('a step with %s is refused by its place', (_, change, path) => {
    const result = stepSchema.safeParse({ ...sound, ...change });
    expect(result.error?.issues.map((issue) => issue.path)).toEqual([path]);
  });

  it('a trajectory names the place of a fault deep inside', () => {
    const result = trajectorySchema.safeParse({
      id: '0/a/0',
      task: { id: 'a', prompt: [{ role: 'robot', content: '' }], metadata: null },
      steps: [sound, { ...sound, text: 1 }],
      messages: [],
      response: '',
      status: 'completed',
      policyVersion: 0,
    });
    expect(result.error?.issues.map(({ path }) => path.join('.'))).toEqual(['task.prompt', 'steps.1.text']);
  });
});
