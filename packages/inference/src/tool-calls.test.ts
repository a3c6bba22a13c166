import { byteTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';

import { InferenceModule } from './inference-module.ts';
import { scriptedBackend } from './scripted-backend.ts';

const sum = '<tool_call>\n{"name": "calculator", "arguments": {"expression": "2+2"}}\n</tool_call>';

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
