import type { Message, RolloutEvent, Step, ToolCall } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { chat } from '../testing.ts';
import { EventBus } from './event-bus.ts';

const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string, calls?: readonly ToolCall[]): Message => ({
  ...{ role: 'assistant', content },
  ...(calls && { tool_calls: calls }),
});
const call = (id: string): ToolCall => ({ id, type: 'function', function: { name: 'add', arguments: '{}' } });
const step: Step = { promptTokens: [], tokens: [], behaviorLogprobs: [], text: 'a', stopReason: 'stop' };

/** Events of an answer of the environment, to an episode of these messages. */
function answered(messages: readonly Message[], view: string | readonly Message[], last: Partial<Step> = {}) {
  const events: RolloutEvent[] = [];
  const progress = { messages, steps: [step, { ...step, ...last }] };
  new EventBus([(event) => events.push(event)], () => expect.unreachable(), undefined).answered(
    {
      context: { task: { id: 't' }, groupId: '0/t', dependencies: { chat } },
      index: 1,
      member: { progress },
    } as never,
    view,
  );
  return events;
}
const addedOf = (...given: Parameters<typeof answered>) =>
  (answered(...given).at(-1) as { readonly messages: unknown }).messages;

describe('what the environment answered', () => {
  const before = [user('q'), assistant('a')];

  it.each<[string, string | readonly Message[], readonly Message[]]>([
    ['the messages behind the conversation', [...before, user('more')], [user('more')]],
    [
      'the messages behind its place if an earlier one was changed',
      [user('Q'), assistant('a'), user('more')],
      [user('more')],
    ],
    ['nothing if the history was shortened', [user('Q')], []],
    ['the text behind the conversation', 'qa more', [user(' more')]],
    ['a text that does not go on, as a whole', 'more', [user('more')]],
    ['nothing if the text goes no further', 'qa', []],
  ])('is %s', (_, view, messages) => {
    expect(addedOf(before, view)).toEqual(messages);
  });

  it('has its place, and no time without a clock or where the step has none', () => {
    expect(answered(before, 'qa')).toStrictEqual([
      { episode: '0/t/1', task: 't', type: 'state-updated', index: 1, messages: [] },
    ]);
    expect(answered(before, 'qa', { timing: { sampleMs: 1 } })[0]).not.toHaveProperty('environmentMs');
    expect(answered(before, 'qa', { timing: { sampleMs: 1, environmentMs: 7 } })[0]).toMatchObject({
      environmentMs: 7,
    });
  });
});

describe('calls of tools', () => {
  const called = (...given: Parameters<typeof answered>) =>
    answered(...given).filter((event) => event.type === 'tool-called');
  const said = assistant('', [call('1'), call('2')]);
  const result = (content: string, id?: string): Message => ({
    ...{ role: 'tool', content },
    ...(id !== undefined && { tool_call_id: id }),
  });

  it('are those of the message that the environment shows for the answer', () => {
    const view = [user('q'), said, result('two', '2'), result('one', '1')];
    expect(called([user('q'), assistant('text')], view)).toStrictEqual(
      [
        ['1', 'one'],
        ['2', 'two'],
      ].map(([id, text]) => ({
        ...{ episode: '0/t/1', task: 't', type: 'tool-called', index: 1 },
        ...{ call: call(id!), result: text },
      })),
    );
  });

  it('are those of the text if the view is text, or does not show the answer', () => {
    const text = '<tool_call>{"name": "add", "arguments": {}}</tool_call>';
    const before = [user('q'), assistant(text)];
    for (const view of ['next', [user('q')]]) {
      const [event, ...more] = called(before, view);
      expect([event, more]).toMatchObject([{ call: { function: { name: 'add' } } }, []]);
      expect(event).not.toHaveProperty('result');
    }
  });

  it('have results by their place among those of tools if none has their id', () => {
    const view = [user('q'), said, user('between'), result('first'), result('second')];
    expect(called([user('q'), assistant('')], view).map((event) => event.result)).toEqual([
      'first',
      'second',
    ]);
    expect(called([user('q'), assistant('')], view.slice(0, 4)).map((event) => event.result)).toEqual([
      'first',
      undefined,
    ]);
  });
});

describe('a bus', () => {
  const event = { type: 'episode-started' } as never;

  it('sends every event to every sink, and notes a sink that fails once', async () => {
    const notes: string[] = [];
    const seen: string[] = [];
    const failing = () => {
      seen.push('failing');
      throw new Error('full');
    };
    const rejecting = async () => {
      seen.push('rejecting');
      throw new Error('away');
    };
    const bus = new EventBus(
      [failing, rejecting, () => seen.push('last')],
      (text) => notes.push(text),
      undefined,
    );
    expect(bus.isHeard).toBe(true);
    for (let times = 0; times < 2; times++) bus.send(event);
    await Promise.resolve();
    const both = ['failing', 'rejecting', 'last'];
    expect(seen).toEqual([...both, ...both]);
    expect(notes).toEqual(
      ['full', 'away'].map((why) => `a sink of rollout events failed, and the rollout goes on: ${why}`),
    );
  });

  it('that nobody hears computes nothing', () => {
    const bus = new EventBus(
      [],
      () => expect.unreachable(),
      () => expect.unreachable(),
    );
    expect(bus.isHeard).toBe(false);
    const nothing = undefined as never;
    bus.send(event);
    bus.started(nothing);
    bus.sampled(nothing);
    bus.answered(nothing, '');
    bus.ended(nothing, nothing);
  });
});
