import {
  type Environment,
  type State,
  type ToolCallFormatName,
  toolCallFormats,
  withCallMarks,
} from '@rlp/core';
import { characterTokenizer, textTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import { RolloutManager } from '../rollout-manager.ts';

const marks = {
  mistral: ['[TOOL_CALLS]', '[ARGS]', '[CALL_ID]'],
  deepseek: [
    '<｜tool▁calls▁begin｜>',
    '<｜tool▁call▁begin｜>',
    '<｜tool▁sep｜>',
    '<｜tool▁call▁end｜>',
    '<｜tool▁calls▁end｜>',
  ],
  kimi: [
    '<|tool_calls_section_begin|>',
    '<|tool_call_begin|>',
    '<|tool_call_argument_begin|>',
    '<|tool_call_end|>',
    '<|tool_calls_section_end|>',
  ],
  harmony: ['<|start|>', '<|channel|>', '<|constrain|>', '<|message|>', '<|call|>', '<|end|>'],
  hermes: ['<tool_call>', '</tool_call>'],
} satisfies Partial<Record<ToolCallFormatName, readonly string[]>>;
const families = Object.keys(marks) as (keyof typeof marks)[];

/** Printable characters, and the marks of a family as special tokens that text leaves out. */
function tokenizerOf(family: keyof typeof marks) {
  const alphabet = `${Array.from({ length: 95 }, (_, index) => String.fromCodePoint(32 + index)).join('')}\n`;
  const { files } = characterTokenizer(alphabet, { end: '</s>', others: marks[family] });
  const tokenizer = files.tokenizer as { added_tokens: object[] };
  const added = tokenizer.added_tokens.map((token) => ({ ...token, special: true }));
  return textTokenizer({ ...files, tokenizer: { ...tokenizer, added_tokens: added } }, family);
}

const add = {
  type: 'function',
  function: { name: 'add', description: 'Adds.', parameters: { type: 'object', properties: {} } },
} as const;
const written = (family: keyof typeof marks) =>
  toolCallFormats[family].write([{ name: 'add', arguments: { a: 1, text: 'x [y] </s' } }]);

/** What a sampler returns that leaves special tokens out of the text. */
function completionOf(family: keyof typeof marks, said: string, end: '</s>' | '' = '</s>') {
  const tokenizer = tokenizerOf(family);
  const tokens = tokenizer.encode(said + end, { specialTokens: 'none' });
  const text = tokenizer.decode(tokens);
  const stopReason = 'stop' as const;
  const behaviorLogprobs = tokens.map(() => -1);
  return { tokenizer, completion: { tokens, text, stopReason, behaviorLogprobs, policyVersion: 0 } };
}

describe.each(families)('calls of %s whose marks are special tokens', (family) => {
  it('are in the text that the environment reads, without the end of the turn', () => {
    const { tokenizer, completion } = completionOf(family, `Let me see.${written(family)}`);
    expect(completion.text).not.toContain(marks[family][0]);
    const { text } = withCallMarks(completion, [add], tokenizer);
    expect(text).toBe(`Let me see.${written(family)}`);
  });

  it.each(['', 'No call here.', 'a <think> b'])('text without calls stays as it is: %j', (said) => {
    const { tokenizer, completion } = completionOf(family, `${said}${marks[family].at(-1)}`);
    expect(withCallMarks(completion, [add], tokenizer)).toBe(completion);
  });

  it('stay out of the text if no tool is offered', () => {
    const { tokenizer, completion } = completionOf(family, written(family));
    for (const tools of [undefined, []]) expect(withCallMarks(completion, tools, tokenizer)).toBe(completion);
  });

  it('do not bring back what followed a stop string', () => {
    const { tokenizer, completion } = completionOf(family, `${written(family)}STOP and more`, '');
    const cut = { ...completion, text: completion.text.slice(0, completion.text.indexOf('STOP')) };
    expect(withCallMarks(cut, [add], tokenizer).text).toBe(written(family));
  });

  it('reach the environment of a rollout, and are in the trajectory', async () => {
    const { tokenizer, completion } = completionOf(family, written(family));
    const heard: string[] = [];
    const environment: Environment = {
      reset: ({ prompt }) => ({ prompt, response: '', stepCount: 0 }),
      buildPrompt: ({ stepCount }: State) => (stepCount === 0 ? 'Add.' : 'Go on.'),
      updateState: (state, response) => {
        heard.push(response);
        return { ...state, response, stepCount: state.stepCount + 1 };
      },
      isTerminal: ({ stepCount }) => stepCount === 2,
      tools: () => [add],
    };
    const sampler = { policyVersion: 0, sample: async () => [completion] };
    const manager = new RolloutManager({ environment, sampler, tokenizer }, { groupSize: 1, maxTurns: 3 });
    for await (const { trajectories } of manager.collectGroups([
      { id: 't', prompt: 'p', metadata: undefined },
    ]))
      expect(trajectories[0]!.steps.map(({ text }) => text)).toEqual(heard);
    expect(heard).toEqual([written(family), written(family)]);
  });
});
