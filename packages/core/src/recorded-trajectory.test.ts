import { expect, it } from 'vitest';
import { recordedTrajectorySchema, withTokenTexts } from './recorded-trajectory.ts';

const step = (tokens: number[]) => ({
  promptTokens: [1],
  tokens,
  behaviorLogprobs: tokens.map(() => -1),
  text: 'said',
  stopReason: 'stop' as const,
});
const recorded = {
  trajectory: {
    id: 'task/0',
    task: { id: 'task', prompt: 'Say it.', metadata: null },
    steps: [step([5]), step([6, 7])],
    messages: [],
    response: 'said',
    status: 'completed' as const,
    policyVersion: 0,
  },
  reward: 1,
  components: { right: 1, judge: null },
};
const problemsOf = (changes: object) =>
  recordedTrajectorySchema
    .safeParse({ ...recorded, ...changes })
    .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);

it('takes a scored trajectory as it is, and with everything that a run knew of it', () => {
  const failures = [{ source: 'judge', cause: 'timed-out', message: 'late' }];
  const first = {
    episodeAdvantage: 1,
    stepAdvantage: 0.5,
    returnToGo: 0.9,
    anchor: { state: 's', steps: 3 },
  };
  const numbers = [0.1, 0.2];
  const second = {
    tokenTexts: ['sa', 'id'],
    mask: [1, 0],
    advantages: numbers,
    ratios: numbers,
    entropies: numbers,
  };
  for (const changes of [{}, { reward: null }, { iteration: 0, failures, trace: [first, second] }]) {
    expect(recordedTrajectorySchema.parse({ ...recorded, ...changes })).toEqual({ ...recorded, ...changes });
  }
});

it('is given the texts of tokens where it has none', () => {
  const record = { ...recorded, trace: [{ tokenTexts: ['mine'], mask: [1] }, { mask: [1, 0] }] };
  // Programs that write nothing as null have no iteration.
  const written = { ...record, iteration: null as never };
  const { trace } = withTokenTexts(written, (tokens) => tokens.map(String));
  expect(trace).toEqual([
    { tokenTexts: ['mine'], mask: [1] },
    { tokenTexts: ['6', '7'], mask: [1, 0] },
  ]);
});

it('needs a trace of as many entries as there are steps', () => {
  expect(problemsOf({ trace: [{}] })).toEqual(['trace: must hold one entry per step, got 1 for 2']);
  expect(problemsOf({ trace: [{}, {}] })).toBeUndefined();
});

it.each(['tokenTexts', 'mask', 'advantages', 'ratios', 'entropies'])('needs one of %s per token', (name) => {
  const entry = name === 'tokenTexts' ? 'said' : 0;
  expect(problemsOf({ trace: [{ [name]: [entry] }, { [name]: [entry] }] })).toEqual([
    `trace.1.${name}: must hold one entry per token, got 1 for 2`,
  ]);
  expect(problemsOf({ trace: [{ [name]: [entry, entry] }, {}] })).toEqual([
    `trace.0.${name}: must hold one entry per token, got 2 for 1`,
  ]);
});

it.each([
  { iteration: -1 },
  { iteration: 0.5 },
  { reward: 'much' },
  { failures: [{ source: 'judge', cause: 'tired', message: '' }] },
  { trace: [{ anchor: { state: 's', steps: 0 } }, {}] },
  { trace: [{ colour: 'red' }, {}] },
  { note: 'mine' },
])('refuses %j', (changes) => {
  expect(problemsOf(changes)).toHaveLength(1);
});
