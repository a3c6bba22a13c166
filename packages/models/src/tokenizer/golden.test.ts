import type { Message } from '@rlp/core';
import { beforeAll, describe, expect, it } from 'vitest';

import { goldenFolder, goldenJson, present } from '../testing/shared-data.ts';
import { type LoadedTokenizer, loadTokenizer } from './load-tokenizer.ts';
import { StreamDecoder } from './stream-decoder.ts';

interface Golden {
  readonly encodings: readonly {
    text: string;
    ids: number[];
    ids_no_special: number[];
    decoded: string;
    decoded_skip_special?: string;
  }[];
  readonly published?: readonly { name: string; text: string; ids: number[] }[];
  readonly chat?: readonly {
    name: string;
    messages: Message[];
    options: { add_generation_prompt: boolean; tools?: unknown[]; enable_thinking?: boolean };
    rendered: string;
    ids: number[];
  }[];
}

const FILES = {
  stories260k: 'tokenizer_golden.json',
  tinystories656k: 'tokenizer_golden.json',
  babyllama105: 'tokenizer_golden.json',
  'tokenizers/gpt2': 'golden.json',
  'tokenizers/qwen3': 'golden.json',
  'tokenizers/chatml32k': 'golden.json',
} as const;

describe.each(present(Object.keys(FILES) as (keyof typeof FILES)[]))('tokenizer %s', (name) => {
  const golden = goldenJson<Golden>(name, FILES[name]);
  let loaded: LoadedTokenizer;
  beforeAll(async () => {
    loaded = await loadTokenizer(goldenFolder(name));
  });

  it('gives the reference ids, with and without special tokens', () => {
    const { tokenizer } = loaded;
    for (const { text, ids, ids_no_special: plain } of golden.encodings) {
      expect(tokenizer.encode(text), text).toEqual(ids);
      expect(tokenizer.encode(text, { specialTokens: 'none' }), text).toEqual(plain);
    }
    for (const { text, ids } of golden.published ?? []) {
      expect(tokenizer.encode(text, { specialTokens: 'none' }), text).toEqual(ids);
    }
  });

  it('decodes as the reference does', () => {
    for (const { text, ids, decoded, decoded_skip_special: skipped } of golden.encodings) {
      // U+FEFF is taken for a byte order mark by the library.
      if (text.includes('\uFEFF')) continue;
      expect(loaded.tokenizer.decode(ids), text).toBe(skipped ?? decoded);
      if (skipped !== undefined) {
        expect(loaded.tokenizer.decode(ids, { specialTokens: 'keep' }), text).toBe(decoded);
      }
    }
  });

  it('streams the text that decoding all at once gives', () => {
    for (const { ids_no_special: ids } of golden.encodings) {
      const stream = new StreamDecoder(loaded.tokenizer);
      const pieces = [...ids.map((id) => stream.push(id)), stream.finish()];
      expect(pieces.join('')).toBe(loaded.tokenizer.decode(ids));
    }
  });

  it('renders conversations to the reference text and ids', () => {
    for (const { name: title, messages, options, rendered, ids } of golden.chat ?? []) {
      const { add_generation_prompt: prompt, tools, ...variables } = options;
      const request = {
        generationPrompt: prompt ? ('add' as const) : ('none' as const),
        variables,
        ...(tools && { tools }),
      };
      expect(loaded.chat!.renderText(messages, request), title).toBe(rendered);
      expect(loaded.chat!.render(messages, request), title).toEqual(ids);
    }
  });
});
