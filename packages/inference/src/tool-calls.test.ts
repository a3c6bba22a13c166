import { byteTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';

import { InferenceModule } from './inference-module.ts';
import { scriptedBackend } from './scripted-backend.ts';
import { parseToolCalls } from './tool-calls.ts';

const offered = new Set(['calculator', 'search']);
const sum = '<tool_call>\n{"name": "calculator", "arguments": {"expression": "2+2"}}\n</tool_call>';

describe('parseToolCalls', () => {
  it('takes calls out of the text, in order', () => {
    const look = '<tool_call>{"name": "search"}</tool_call>';
    expect(parseToolCalls(`Let me see. ${sum}\n${look}`, offered)).toEqual({
      text: 'Let me see.',
      calls: [
        {
          id: 'call_0',
          type: 'function',
          function: { name: 'calculator', arguments: '{"expression":"2+2"}' },
        },
        { id: 'call_1', type: 'function', function: { name: 'search', arguments: '{}' } },
      ],
    });
  });

  it.each([
    '<tool_call>{"name": "calculator", "arguments": </tool_call>',
    '<tool_call>{"arguments": {}}</tool_call>',
    '<tool_call>{"name": "shell", "arguments": {}}</tool_call>',
    ' no call at all ',
  ])('leaves what is no call of an offered tool in the text: %s', (text) => {
    expect(parseToolCalls(text, offered)).toEqual({ text, calls: [] });
  });
});

describe('InferenceModule.batchGenerateWithTools', () => {
  it('wants prompts and tools in lists', async () => {
    const backend = scriptedBackend({ tokenizer: byteTokenizer(), completions: ['Hello.'] });
    const inference = await InferenceModule.create({ backend });
    const bare = 'hi' as unknown as string[];
    await expect(inference.batchGenerateWithTools(bare, ['search'])).rejects.toThrow('list of prompts');
    await expect(inference.batchGenerateWithTools(['hi'], bare)).rejects.toThrow('list of tools');
  });

  it('offers the tools to the chat template and separates calls from text', async () => {
    const tokenizer = byteTokenizer();
    const seen: unknown[] = [];
    const inference = await InferenceModule.create({
      backend: scriptedBackend({ tokenizer, completions: [`Adding. ${sum}`, 'Hello.'] }),
      renderer: {
        render: (messages, options) => {
          seen.push(messages, options?.tools);
          return tokenizer.encode(messages[0]!.content);
        },
      },
    });
    const { responses, toolCalls } = await inference.batchGenerateWithTools(
      ['2+2?', [{ role: 'user', content: 'hi' }]],
      ['calculator', 'search'],
    );
    expect(responses).toEqual(['Adding.', 'Hello.']);
    expect(toolCalls.map((calls) => calls.map((call) => call.function.name))).toEqual([['calculator'], []]);
    expect(seen[0]).toEqual([{ role: 'user', content: '2+2?' }]);
    expect(seen[1]).toMatchObject([{ function: { name: 'calculator' } }, { function: { name: 'search' } }]);
  });
});
