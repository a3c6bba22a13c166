import type { RolloutEvent, Step, Trajectory } from '@rlp/core';
import { expect, it } from 'vitest';
import { debugLogger, recordTrajectories } from './sinks.ts';

const step: Step = {
  ...{ promptTokens: [1], tokens: [2, 3], behaviorLogprobs: [-0.5, -1], text: 'So.', stopReason: 'stop' },
  ...{ value: 0.25, observation: 'Why?', timing: { sampleMs: 12.34 } },
};
const trajectory: Trajectory = {
  ...{
    id: '0/a/0',
    task: { id: 'a', prompt: '', metadata: null },
    steps: [step],
    messages: [],
    response: 'So.',
  },
  ...{ status: 'failed', policyVersion: 0, termination: { reason: 'error', detail: 'detail' } },
  ...{ outcome: { won: false }, metrics: { turns: 1 } },
};
const trace = [
  { advantages: [0.5, 0.5], returnToGo: 2 },
  { episodeAdvantage: 1, stepAdvantage: -1, anchor: { state: 's', steps: 3 } },
];
const record = { trajectory, reward: 1, components: {}, iteration: 7, trace };
const place = { episode: '0/a/0', task: 'a' };

it.each<[RolloutEvent, string]>([
  [{ ...place, type: 'episode-started', steps: 0 }, 'started, task a'],
  [{ ...place, type: 'episode-started', steps: 2 }, 'goes on after 2 steps'],
  [
    { ...place, type: 'turn-sampled', index: 0, step },
    'step 0 saw "Why?" said "So." (2 tokens, logprob -1.500, value 0.25, stop) in 12.3 ms',
  ],
  [
    { ...place, type: 'state-updated', index: 0, messages: [], environmentMs: 0.06 },
    'step 0 was answered [] in 0.1 ms',
  ],
  [
    { ...place, type: 'episode-ended', trajectory },
    'ended: failed, error (detail) after 1 step; outcome {"won":false}; metrics {"turns":1}',
  ],
  [
    {
      ...place,
      type: 'episode-ended',
      trajectory: { ...trajectory, failure: { boundary: 'sampler', message: 'lost' } },
    },
    'ended: failed, error (lost) after 1 step; outcome {"won":false}; metrics {"turns":1}',
  ],
  [
    {
      ...place,
      type: 'episode-ended',
      trajectory: {
        ...trajectory,
        ...{ status: 'aborted', termination: undefined, outcome: undefined, metrics: undefined },
      },
    },
    'ended: aborted after 1 step',
  ],
  [
    {
      ...place,
      type: 'state-updated',
      index: 0,
      messages: [
        {
          ...{ role: 'assistant', content: '' },
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'add', arguments: '{}' } }],
        },
      ],
    },
    'step 0 was answered [{"role":"assistant","content":"","calls":[{"name":"add","arguments":"{}"}]}]',
  ],
  [
    { ...place, type: 'trajectory-learned', record },
    'learned in iteration 7: {"advantage":0.5,"returnToGo":2} {"episodeAdvantage":1,"stepAdvantage":-1,"anchor":{"state":"s","steps":3}}',
  ],
])('a line of debugLogger: %#', (event, line) => {
  const lines: string[] = [];
  debugLogger((text) => lines.push(text))(event);
  expect(lines).toEqual([`[0/a/0] ${line}`]);
});

it('shows 400 characters of a text', () => {
  const shown = (length: number) => {
    const lines: string[] = [];
    const said = { ...step, text: 'x'.repeat(length) };
    debugLogger((text) => lines.push(text))({ ...place, type: 'turn-sampled', index: 0, step: said });
    return /said (.*) \(2 tokens/.exec(lines[0]!)![1];
  };
  expect([shown(398), shown(399)]).toEqual([`"${'x'.repeat(398)}"`, `"${'x'.repeat(399)}…`]);
});

it('records what was learned from, with texts of tokens if asked to', () => {
  const lines: unknown[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const learned = { ...record, trace: [{ advantages: [0.5, 0.5] }] };
  const tokenTexts = (tokens: readonly number[]) => tokens.map((token) => `<${token}>`);
  const sink = recordTrajectories({ on: 'trajectory-learned', tokenTexts, write });
  sink({ ...place, type: 'episode-ended', trajectory });
  sink({ ...place, type: 'trajectory-learned', record: learned });
  expect(lines).toEqual([
    { version: 1, ...learned, trace: [{ tokenTexts: ['<2>', '<3>'], advantages: [0.5, 0.5] }] },
  ]);
});

it('records why a reward failed', () => {
  const lines: string[] = [];
  const failures = [{ source: 'judge', cause: 'threw', message: 'away' }] as const;
  recordTrajectories({ on: 'reward-given', write: (line) => lines.push(line) })({
    ...{ ...place, type: 'reward-given', trajectory, reward: null, components: {}, failures },
  });
  expect(JSON.parse(lines[0]!)).toMatchObject({ reward: null, failures });
});

it('writes nothing of what was learned if there is no trace, and what JSON has no word for', () => {
  const lines: string[] = [];
  const logger = debugLogger((line) => lines.push(line));
  const { trace: _, ...bare } = record;
  logger({ ...place, type: 'trajectory-learned', record: bare });
  const call = { id: 'c', type: 'function', function: { name: 'add', arguments: '{}' } } as const;
  logger({ ...place, type: 'tool-called', index: 2, call });
  expect(lines).toEqual(['[0/a/0] learned in iteration 7: ', '[0/a/0] step 2 called add({}) got nothing']);
});

it('shows control codes of a model as escapes, in one line', () => {
  const lines: string[] = [];
  const given = { name: 'add', arguments: '{"x":"\u001b[2J\n[0/b/0] forged\u009b"}' };
  const call = { id: 'c', type: 'function', function: given } as const;
  debugLogger((line) => lines.push(line))({
    ...place,
    type: 'tool-called',
    index: 0,
    call,
    result: '\u001b[2J',
  });
  expect(lines).toEqual([
    '[0/a/0] step 0 called add({"x":"\\u001b[2J\\n[0/b/0] forged\\u009b"}) got "\\u001b[2J"',
  ]);
});

it('records every second that a condition was asked about, from the first on', () => {
  const lines: string[] = [];
  const asked: string[] = [];
  const when = ({ id }: Trajectory) => {
    asked.push(id);
    return id !== 't2';
  };
  const sink = recordTrajectories({ every: 2, when, write: (line) => lines.push(JSON.parse(line).id) });
  for (const id of ['t0', 't1', 't2', 't3', 't4'])
    sink({ ...place, type: 'episode-ended', trajectory: { ...trajectory, id } });
  expect([asked, lines]).toEqual([
    ['t0', 't2', 't4'],
    ['t0', 't4'],
  ]);
});

it('hands a condition what the trajectory was given, without the trajectory', () => {
  const seen: unknown[] = [];
  const when = (_: Trajectory, score: unknown) => {
    seen.push(score);
    return true;
  };
  const failures = [{ source: 'judge', cause: 'threw', message: 'away' }] as const;
  const given = { ...place, type: 'reward-given', trajectory, reward: 1, components: { a: 1 } } as const;
  const written: object[] = [];
  const sink = recordTrajectories({
    on: 'reward-given',
    when,
    write: (line) => written.push(JSON.parse(line)),
  });
  sink(given);
  sink({ ...given, failures });
  recordTrajectories({ when, write: () => undefined })({ ...place, type: 'episode-ended', trajectory });
  expect(seen).toEqual([
    { reward: 1, components: { a: 1 } },
    { reward: 1, components: { a: 1 }, failures },
    undefined,
  ]);
  expect(written[0]).not.toHaveProperty('failures');
});
