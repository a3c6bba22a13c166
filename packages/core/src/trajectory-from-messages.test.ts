import { describe, expect, it } from 'vitest';
import type { Message } from './message.ts';
import { trajectorySchema } from './trajectory.ts';
import { type RecordedConversation, trajectoryFromMessages } from './trajectory-from-messages.ts';

const messages: readonly (Omit<Message, 'content'> & { readonly content: string | null })[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Where is it?' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: '1', type: 'function', function: { name: 'find', arguments: '{}' } }],
  },
  { role: 'tool', content: 'here', tool_call_id: '1' },
  { role: 'assistant', content: 'Here.' },
  { role: 'user', content: 'Thanks' },
];

describe('trajectoryFromMessages', () => {
  it('makes a trajectory of what an API logged', () => {
    const trajectory = trajectoryFromMessages({ id: 'a', messages, metadata: { stars: 5 } });
    expect(trajectory).toMatchObject({ id: 'a', response: 'Here.', status: 'completed', steps: [] });
    expect(trajectory.task).toEqual({ id: 'a', prompt: messages.slice(0, 2), metadata: { stars: 5 } });
    expect(trajectory.messages[2]).toEqual({ ...messages[2], content: '' });
    expect(trajectorySchema.parse(JSON.parse(JSON.stringify(trajectory)))).toEqual(trajectory);
  });

  it.each([
    [
      messages.slice(0, 2),
      /conversation "b": expected a message of the assistant to score, got only messages of system and user$/,
    ],
    [[], /got no message$/],
  ])('refuses a conversation in which the assistant says nothing, %#', (silent, problem) => {
    expect(() => trajectoryFromMessages({ id: 'b', messages: silent, metadata: null })).toThrow(problem);
  });

  it('writes the types of parts that are no text if asked', () => {
    const content = [
      { type: 'text', text: 'What is ' },
      { type: 'image_url', image_url: { url: 'x' } },
    ];
    const seen = [
      { role: 'user', content },
      { role: 'assistant', content: 'A cat.' },
    ];
    const { task } = trajectoryFromMessages({ id: 'e', messages: seen, otherParts: 'name', metadata: null });
    expect(task.prompt).toEqual([{ role: 'user', content: 'What is [image_url]' }]);
  });

  it('refuses another way with such parts', () => {
    const dropping = { id: 'f', messages, otherParts: 'drop' as 'name', metadata: null };
    expect(() => trajectoryFromMessages(dropping)).toThrow(
      `trajectoryFromMessages: otherParts must be 'refuse' or 'name', got "drop"`,
    );
  });

  it('has no prompt if the assistant begins', () => {
    const begun = [{ role: 'assistant', content: 'Hello' } as const, ...messages.slice(1, 2)];
    const { task, messages: all } = trajectoryFromMessages({ id: 'c', messages: begun, metadata: null });
    expect([task.prompt, all.length]).toEqual([[], 2]);
  });

  it('reads what client libraries write: nulls, parts, refusals, other roles', () => {
    const written = [
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'Be ' },
          { type: 'text', text: 'brief.' },
        ],
      },
      { role: 'assistant', content: 'Yes.', tool_calls: null, function_call: null, refusal: null },
      { role: 'assistant' },
      { role: 'function', name: 'find', content: 'here' },
      { role: 'assistant', content: null, refusal: 'I cannot.' },
      {
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'Well, ' },
          { type: 'refusal', refusal: 'no.' },
        ],
      },
    ];
    expect(trajectoryFromMessages({ id: 'd', messages: written, metadata: null }).messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'assistant', content: 'Yes.' },
      { role: 'assistant', content: '' },
      { role: 'tool', name: 'find', content: 'here' },
      { role: 'assistant', content: 'I cannot.' },
      { role: 'assistant', content: 'Well, no.' },
    ]);
  });

  it('refuses a message whose content has another name, and reads one without content as empty', () => {
    const read = (message: object) => () =>
      trajectoryFromMessages({ id: 'c', messages: [messages[1], message], metadata: null }).response;
    expect(read({ role: 'assistant', body: 'hello' })).toThrow(
      'conversation "c", messages.1: expected content, parts or tool_calls, got an object with role, body; write what was said as content, not as body',
    );
    expect(read({ role: 'assistant', toolCalls: [] })).toThrow(/not as toolCalls/);
    expect(read({ role: 'assistant', id: 'm', reasoning_content: 'Hm.' })()).toBe('');
    expect(read({ role: 'assistant', content: null, audio: { transcript: 'Here.' } })()).toBe('Here.');
  });

  it('names the place of a message in the log, also behind messages that are several', () => {
    const gave = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'x' });
    const logged = [
      messages[1],
      { role: 'user', content: [gave('1'), gave('2')] },
      { role: 'bot', content: 'x' },
    ];
    expect(() => trajectoryFromMessages({ id: 'c', messages: logged, metadata: null })).toThrow(
      'messages.2.role',
    );
  });

  it('names what is no message', () => {
    const strange = (message: unknown) => () =>
      trajectoryFromMessages({ id: 'c', messages: [...messages, message], metadata: null });
    expect(strange({ role: 'bot', content: 'x' })).toThrow(
      /conversation "c", messages\.6\.role: expected one of "system", .*, got "bot"$/,
    );
    const seen = [{ type: 'text', text: 'What is this?' }, { type: 'image_url' }];
    expect(strange({ role: 'user', content: seen })).toThrow(
      /messages\.6\.content: expected text or parts of text, got a part of type "image_url"; put a text in its place/,
    );
    expect(strange('x')).toThrow(/messages\.6: /);
    const absent = JSON.parse('{"id": "c", "metadata": null}') as RecordedConversation;
    expect(() => trajectoryFromMessages(absent)).toThrow(/conversation "c", messages: /);
  });
});
