import { describe, expect, it } from 'vitest';
import { trajectoriesFromTraffic } from '../traffic.ts';

const read = (span: object) =>
  trajectoriesFromTraffic(JSON.stringify({ spanId: 's', attributes: {}, ...span })).map(
    ({ id, messages, response }) => ({ id, messages, response }),
  );
const asked = { role: 'user', content: 'Hi' };
const said = (content: string) => ({ role: 'assistant', content });
const one = [{ id: 's', messages: [asked, said('Hello')], response: 'Hello' }];
const both = [
  { id: 's/0', messages: [asked, said('Hello')], response: 'Hello' },
  { id: 's/1', messages: [asked, said('Hey')], response: 'Hey' },
];

describe('a span with several choices', () => {
  it.each([
    [
      'in messages',
      { 'gen_ai.input.messages': [asked], 'gen_ai.output.messages': [said('Hello'), said('Hey')] },
    ],
    [
      'in attributes with numbers',
      {
        'gen_ai.prompt.0.content': 'Hi',
        'gen_ai.completion.0.content': 'Hello',
        'gen_ai.completion.1.content': 'Hey',
      },
    ],
  ])('is one conversation for each: %s', (_, attributes) => {
    expect(read({ attributes })).toEqual(both);
  });

  it('is one conversation if tools answered in between', () => {
    const told = { role: 'tool', content: 'x', tool_call_id: 'c' };
    const output = [said(''), told, said('Hello')];
    expect(
      read({ attributes: { 'gen_ai.input.messages': [asked], 'gen_ai.output.messages': output } }),
    ).toEqual([{ id: 's', messages: [asked, ...output], response: 'Hello' }]);
  });
});

describe('events of earlier conventions', () => {
  const event = (name: string, attributes: object) => ({ name, attributes });

  it('hold a message each', () => {
    const question = event('gen_ai.user.message', { content: 'Hi' });
    const choices = ['Hello', 'Hey'].map((content, index) =>
      event('gen_ai.choice', { index, finish_reason: 'stop', message: JSON.stringify({ content }) }),
    );
    expect(read({ events: [question, choices[0]] })).toEqual(one);
    expect(read({ events: [question, ...choices] })).toEqual(both);
  });

  it('keep calls and what tools gave', () => {
    const calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }];
    const events = [
      event('gen_ai.user.message', { content: 'Hi' }),
      event('gen_ai.assistant.message', { tool_calls: JSON.stringify(calls) }),
      event('gen_ai.tool.message', { id: 'c', content: 'x' }),
      event('gen_ai.choice', { message: { role: 'assistant', content: 'Hello' } }),
    ];
    expect(read({ events })[0]!.messages).toEqual([
      asked,
      { role: 'assistant', content: '', tool_calls: calls },
      { role: 'tool', content: 'x', tool_call_id: 'c' },
      said('Hello'),
    ]);
  });

  it('hold all messages of the request and of the answer', () => {
    const events = [
      event('gen_ai.content.prompt', { 'gen_ai.prompt': JSON.stringify([asked]) }),
      event('gen_ai.content.completion', { 'gen_ai.completion': JSON.stringify([said('Hello')]) }),
    ];
    expect(read({ events })).toEqual(one);
  });
});
