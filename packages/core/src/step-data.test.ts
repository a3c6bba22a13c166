import { describe, expect, it } from 'vitest';
import type { Message } from './message.ts';
import {
  evaluateResultSchema,
  scoreFromEvaluateResult,
  stepDataFromTrajectory,
  stepDataSchema,
} from './step-data.ts';
import { taskDefinitionSchema, taskFromDefinition } from './task-definition.ts';
import type { Step, Trajectory } from './trajectory.ts';

const call = { id: 'c1', type: 'function', function: { name: 'search', arguments: '{"q":"onnx"}' } } as const;
const messages: readonly Message[] = [
  { role: 'user', content: 'Example?' },
  { role: 'assistant', content: 'An example in the prompt.' },
  { role: 'user', content: 'Find it.' },
  { role: 'assistant', content: '', tool_calls: [call] },
  { role: 'tool', content: 'found', tool_call_id: 'c1' },
  { role: 'assistant', content: 'Here it is.' },
];

function step(text: string, fields: Partial<Step> = {}): Step {
  return { promptTokens: [1], tokens: [2], behaviorLogprobs: [-0.5], text, stopReason: 'stop', ...fields };
}

const trajectory: Trajectory<{ answer: string }> = {
  id: 'task-1/0',
  task: { id: 'task-1', prompt: messages.slice(0, 3), metadata: { answer: 'it' } },
  steps: [step('<search q="onnx">', { value: 0.25, stateKey: 'start', reward: 0.1 }), step('Here it is.')],
  messages,
  response: 'Here it is.',
  status: 'completed',
  policyVersion: 1,
};

describe('stepDataFromTrajectory', () => {
  const stepsOf = () => stepDataFromTrajectory(trajectory);

  it('gives one record per step, which its schema accepts', () => {
    expect(stepsOf().map((data) => stepDataSchema.parse(JSON.parse(JSON.stringify(data))))).toEqual(
      stepsOf(),
    );
    expect(stepsOf().map(({ systemStepIndex, isDone }) => [systemStepIndex, isDone])).toEqual([
      [0, false],
      [1, true],
    ]);
  });

  it('tells tool calls from text', () => {
    expect(stepsOf().map(({ actionTaken }) => actionTaken)).toEqual([
      { type: 'tool_call', name: 'search', arguments: '{"q":"onnx"}' },
      { type: 'text', content: 'Here it is.' },
    ]);
  });

  it("takes a step's own tool calls and its observation, without a conversation", () => {
    const [first] = stepDataFromTrajectory({
      ...trajectory,
      messages: [],
      steps: [step('<search>', { toolCalls: [call], observation: 'Find it.' })],
    });
    expect(first).toMatchObject({
      actionTaken: { type: 'tool_call', name: 'search', arguments: '{"q":"onnx"}' },
      observationData: { promptTokens: [1], observation: 'Find it.' },
    });
  });

  it('has the policy terminate in its last step, if it chose to', () => {
    const ended = stepDataFromTrajectory({ ...trajectory, termination: { reason: 'terminate' } });
    expect(ended.map(({ actionTaken }) => actionTaken.type)).toEqual(['tool_call', 'terminate']);
  });

  it('counts assistant messages of the prompt, as a reader of the conversation does', () => {
    expect(stepsOf().map(({ stepInfo }) => stepInfo.assistantTurnIndex)).toEqual([1, 2]);
  });

  it("ends each step's history where the next step begins", () => {
    expect(stepsOf().map(({ resultingMessagesHistory }) => resultingMessagesHistory.length)).toEqual([5, 6]);
  });

  it('carries tokens, value, state and reward', () => {
    expect(stepsOf()[0]).toMatchObject({
      observationData: { promptTokens: [1] },
      policyLogprobs: { tokens: [2], logprobs: [-0.5] },
      policyValueEstimate: 0.25,
      baseReward: 0.1,
      stepInfo: { stateKey: 'start', stopReason: 'stop' },
    });
  });

  it('numbers the steps themselves where there is no conversation', () => {
    const plain = stepDataFromTrajectory({ ...trajectory, messages: [], status: 'pending' });
    expect(plain.map(({ stepInfo, isDone }) => [stepInfo.assistantTurnIndex, isDone])).toEqual([
      [0, false],
      [1, false],
    ]);
  });
});

describe('scoreFromEvaluateResult', () => {
  const judge = (result: unknown) => scoreFromEvaluateResult(trajectory, evaluateResultSchema.parse(result));

  it('takes score, metrics and the rewards of steps over', () => {
    const { scored, problems } = judge({
      score: 0.75,
      metrics: { style: { score: 0.5 }, facts: { score: 0, isScoreValid: false } },
      stepOutputs: [
        { stepIndex: 1, baseReward: 0.4 },
        { stepIndex: '2', baseReward: 0.6 },
      ],
    });
    expect(problems).toEqual([]);
    expect(scored.reward).toBe(0.75);
    expect(scored.components).toEqual({ style: 0.5, facts: null });
    expect(scored.trajectory.steps.map(({ reward }) => reward)).toEqual([0.4, 0.6]);
    expect(trajectory.steps[0]?.reward).toBe(0.1);
  });

  it('works without step outputs, as older judgements come', () => {
    expect(judge({ score: 1 }).scored).toEqual({ trajectory, reward: 1, components: {} });
  });

  it.each([{ isScoreValid: false }, { error: 'the judge timed out' }])('leaves %j unscored', (fields) => {
    expect(judge({ score: 1, ...fields }).scored.reward).toBeNull();
  });

  it('refuses fields in the spelling of Python, which would be left out', () => {
    const given = { score: 1, step_outputs: [{ step_index: 0, base_reward: 1 }], explanation: 'kept' };
    const { error } = evaluateResultSchema.safeParse(given);
    expect(error?.issues).toMatchObject([{ path: ['step_outputs'], message: 'write it as stepOutputs' }]);
    const [step] = stepDataFromTrajectory(trajectory);
    expect(() => stepDataSchema.parse({ ...step, baseReward: undefined, base_reward: 1 })).toThrow(
      'write it as baseReward',
    );
  });

  it.each([
    [
      { metrics: { style: { score: 1, is_score_valid: false } } },
      'metrics.style.is_score_valid',
      'isScoreValid',
    ],
    [{ stepOutputs: [{ stepIndex: 1, baseReward: 1, Reason: 'x' }] }, 'stepOutputs.0.Reason', 'reason'],
  ])('refuses other spellings inside %j', (fields, path, name) => {
    const { error } = evaluateResultSchema.safeParse({ score: 1, ...fields });
    const problems = error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${path}: write it as ${name}`))]);
  });

  it('keeps fields of its own, at every depth', () => {
    const given = {
      ...{ score: 1, isScoreValid: true, explanation: 'good', errors: [], reasons: ['good'], reason: 'good' },
      metrics: { style: { score: 1, isScoreValid: true, data: { words: 3 } } },
      stepOutputs: [{ stepIndex: 1, baseReward: 1, metrics: {}, terminated: true }],
    };
    expect(evaluateResultSchema.parse(given)).toEqual(given);
  });

  it('names outputs that match no step and those given twice', () => {
    const { scored, problems } = judge({
      score: 1,
      stepOutputs: [
        { stepIndex: 0, baseReward: 9 },
        { stepIndex: 2, baseReward: 0.6 },
        { stepIndex: 2, baseReward: 0.7 },
      ],
    });
    expect(problems).toEqual([
      'task-1/0: no step wrote assistant message 0, expected one of: 1, 2',
      'task-1/0: assistant message 2 is judged twice; the first judgement counts',
    ]);
    expect(scored.trajectory.steps.map(({ reward }) => reward)).toEqual([0.1, 0.6]);
  });
});

describe('taskFromDefinition', () => {
  const definition = { name: 'maze', resourceType: 'grid', rewardFunctionPath: './reward.ts' };

  it('begins with the prompt or with the messages', () => {
    const prompted = taskDefinitionSchema.parse({ ...definition, initialUserPrompt: 'Go.' });
    const opened = taskDefinitionSchema.parse({
      ...definition,
      initialMessages: [{ role: 'system', content: 'Walk.' }],
    });
    expect(taskFromDefinition(prompted)).toEqual({
      id: 'maze',
      prompt: [{ role: 'user', content: 'Go.' }],
      metadata: prompted,
    });
    expect(taskFromDefinition(opened).prompt).toEqual([{ role: 'system', content: 'Walk.' }]);
  });

  it('ends by the termination pattern of the definition', () => {
    const ending = { ...definition, initialUserPrompt: 'Go.', terminationPattern: '^DONE$' };
    expect(taskFromDefinition(taskDefinitionSchema.parse(ending)).terminationPattern).toBe('^DONE$');
    expect(
      taskDefinitionSchema.safeParse({ ...ending, terminationPattern: '(' }).error?.issues[0],
    ).toMatchObject({
      path: ['terminationPattern'],
      message: 'must be a regular expression',
    });
  });
});

describe('side conversations', () => {
  const step = (text: string, branch?: number) => ({
    ...{ promptTokens: [1], tokens: [2], behaviorLogprobs: [-1], text, stopReason: 'stop' as const },
    ...(branch !== undefined && { branch }),
  });
  const trajectory = {
    ...{ id: 't', task: { id: 't', prompt: 'go', metadata: undefined }, response: 'b' },
    ...{ status: 'completed' as const, policyVersion: 0 },
    steps: [step('side', 1), step('a'), step('b')],
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'a' },
      { role: 'user', content: 'and' },
      { role: 'assistant', content: 'b' },
    ] as const,
  };

  it('have no messages, and judgements of turns go to the main conversation', () => {
    const data = stepDataFromTrajectory(trajectory);
    expect(data.map(({ stepInfo }) => stepInfo.assistantTurnIndex)).toEqual(['branch 1, step 0', 0, 1]);
    expect(data.map(({ resultingMessagesHistory }) => resultingMessagesHistory.length)).toEqual([0, 3, 4]);
    const stepOutputs = [{ stepIndex: 0, baseReward: 5, metrics: {} }];
    const judged = { score: 1, isScoreValid: true, metrics: {}, stepOutputs };
    const { scored, problems } = scoreFromEvaluateResult(trajectory, judged);
    expect(scored.trajectory.steps.map(({ reward }) => reward)).toEqual([undefined, 5, undefined]);
    expect(problems).toEqual([]);
  });

  it('stand between turns of a conversation that began with an example', () => {
    const { messages } = trajectory;
    const data = stepDataFromTrajectory({
      ...trajectory,
      steps: [step('a'), step('side', 1), step('b')],
      messages: [{ role: 'user', content: 'hi' }, { role: 'assistant', content: 'hello' }, ...messages],
    });
    expect(data.map(({ stepInfo }) => stepInfo.assistantTurnIndex)).toEqual([1, 'branch 1, step 1', 2]);
    expect(data.map(({ resultingMessagesHistory }) => resultingMessagesHistory.length)).toEqual([5, 0, 6]);
  });
});
