import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ArgumentError, FormatError } from '@rlp/core';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { byteTokenizer, characterTokenizer } from './built-tokenizers.ts';
import { CompletionText, completionText } from './completion-text.ts';
import { loadTokenizer } from './load-tokenizer.ts';
import { StreamDecoder } from './stream-decoder.ts';
import { textTokenizer } from './text-tokenizer.ts';

describe('characterTokenizer', () => {
  const tokenizer = characterTokenizer('abc +\n', { begin: '<s>', end: '</s>', others: ['<think>'] });

  it('numbers special tokens first and the alphabet after them', () => {
    expect(tokenizer.vocabularySize).toBe(9);
    expect(tokenizer.bosId).toBe(0);
    expect(tokenizer.eosIds).toEqual([1]);
    expect(tokenizer.encode('ab +\nc<think></s>')).toEqual([0, 3, 4, 6, 7, 8, 5, 2, 1]);
    expect(tokenizer.encode('a', { specialTokens: 'none' })).toEqual([3]);
    expect(tokenizer.decode([0, 3, 6, 6, 4, 2, 1])).toBe('a  b<think>');
    expect(tokenizer.decode([3, 2], { specialTokens: 'keep' })).toBe('a<think>');
    expect([tokenizer.tokenId('b'), tokenizer.tokenText(4)]).toEqual([4, 'b']);
  });

  it('gives text back for any text over its alphabet', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...'abc +\n')), (characters) => {
        const text = characters.join('');
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
      }),
    );
  });

  it('refuses characters outside the alphabet, unless there is an unknown token', () => {
    expect(() => tokenizer.encode('abd')).toThrow('"d" is not in the alphabet');
    const lenient = characterTokenizer('ab', { unknown: '<unk>' });
    expect(lenient.encode('axyb')).toEqual([1, 0, 0, 2]);
  });

  it('refuses alphabets and specials that clash', () => {
    expect(() => characterTokenizer('')).toThrow(ArgumentError);
    expect(() => characterTokenizer('aa')).toThrow('"a" occurs twice');
    expect(() => characterTokenizer('ab', { end: 'a' })).toThrow('"a" occurs twice');
    expect(() => characterTokenizer('ab', { finish: '</s>' } as never)).toThrow('finish');
  });
});

describe('byteTokenizer', () => {
  const tokenizer = byteTokenizer({ begin: '<s>', end: '</s>', padding: '</s>' });

  it('has the byte as the id, special tokens from 256', () => {
    expect(tokenizer.encode('é\n a</s>', { specialTokens: 'none' })).toEqual([0xc3, 0xa9, 10, 32, 97, 257]);
    expect([tokenizer.bosId, tokenizer.eosIds, tokenizer.vocabularySize]).toEqual([256, [257], 258]);
  });

  it('gives any text back, whole and streamed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const tokens = tokenizer.encode(text);
        expect(tokenizer.decode(tokens)).toBe(text);
        const stream = new StreamDecoder(tokenizer);
        const pieces = tokens.map((token) => stream.push(token));
        // No half character is shown; one that the text itself holds is.
        if (!text.includes('\uFFFD')) expect(pieces.join('')).not.toContain('\uFFFD');
        stream.finish();
        expect(stream.text).toBe(text);
      }),
    );
  });

  it('keeps the byte order mark and every byte value', () => {
    expect(tokenizer.decode(tokenizer.encode('a\uFEFFb'))).toBe('a\uFEFFb');
    const text = Array.from({ length: 0x180 }, (_, code) => String.fromCodePoint(code)).join('');
    const bytes = [...new TextEncoder().encode(text)];
    expect(tokenizer.encode(text, { specialTokens: 'none' })).toEqual(bytes);
  });
});

describe('StreamDecoder', () => {
  const tokenizer = byteTokenizer();

  it('holds a character back until its last byte', () => {
    const stream = new StreamDecoder(tokenizer);
    expect([...Buffer.from('a😀b')].map((byte) => stream.push(byte))).toEqual(['a', '', '', '', '😀', 'b']);
  });

  it('gives up on bytes that never become a character', () => {
    const stream = new StreamDecoder(tokenizer);
    for (let i = 0; i < 40; i++) stream.push(0x80);
    expect(stream.text.length).toBeGreaterThanOrEqual(32);
    stream.push(0xc3);
    expect(stream.finish()).toMatch(/^\uFFFD+$/);
    expect(stream.text).toHaveLength(41);
    expect(stream.finish()).toBe('');
  });

  it('decodes few tokens at a time, however many without text come', () => {
    const specials = byteTokenizer({ end: '</s>' });
    let longest = 0;
    const decode: typeof specials.decode = (tokens, options) => {
      longest = Math.max(longest, tokens.length);
      return specials.decode(tokens, options);
    };
    const stream = new StreamDecoder({ ...specials, decode });
    for (let i = 0; i < 100; i++) expect(stream.push(256)).toBe('');
    expect(stream.push(97)).toBe('a');
    expect(longest).toBeLessThanOrEqual(32);
  });

  it('keeps the space before a word that continues a context', () => {
    const vocab = { '▁a': 0, '▁b': 1, '<s>': 2 };
    const decoders = [
      { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
      { type: 'Fuse' },
      { type: 'Strip', content: ' ', start: 1, stop: 0 },
    ];
    const words = textTokenizer(
      {
        tokenizer: {
          model: { type: 'BPE', vocab, merges: [] },
          added_tokens: [{ id: 2, content: '<s>', special: true }],
          normalizer: null,
          pre_tokenizer: null,
          post_processor: null,
          decoder: { type: 'Sequence', decoders },
        },
        config: {},
      },
      'test',
    );
    const alone = new StreamDecoder(words);
    expect([alone.push(0), alone.push(2), alone.push(1), alone.push(1)]).toEqual(['a', '', ' b', ' b']);
    const continued = new StreamDecoder(words, { context: [2, 0] });
    expect([continued.push(1), continued.text]).toEqual([' b', ' b']);
  });
});

describe('completionText', () => {
  it('is what its tokens give one by one, also of bytes that are no characters', () => {
    const tokenizer = byteTokenizer({ end: '</s>', others: ['<think>'] });
    const texts = fc.string({ unit: 'grapheme' }).map((text) => tokenizer.encode(text));
    const tokens = fc.oneof(texts, fc.array(fc.nat(257)));
    fc.assert(
      fc.property(texts, tokens, (prompt, said) => {
        const options = { tokenizer, prompt, endTokens: tokenizer.eosIds, stopStrings: [] };
        const text = new CompletionText(options);
        const pieces = said.map((token) => text.push(token).text).join('');
        expect(completionText(said, options)).toBe(pieces + text.flush());
      }),
    );
  });
});

it('a tokenizer without an unknown token says that it cannot spell a text', () => {
  const model = { type: 'WordPiece', vocab: { a: 0 }, unk_token: '[UNK]', continuing_subword_prefix: '##' };
  const parts = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
  const tokenizer = textTokenizer({ tokenizer: { model, added_tokens: [], ...parts }, config: {} }, 'here');
  expect(tokenizer.encode('a')).toEqual([0]);
  expect(() => tokenizer.encode('z')).toThrow('encode: "z" holds what the vocabulary lacks');
});

describe('loadTokenizer', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rlp-tokenizer-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const save = (name: string, content: unknown) =>
    writeFile(join(folder, name), isText(content) ? content : JSON.stringify(content));
  const isText = (content: unknown) => typeof content === 'string' || content instanceof Uint8Array;

  it('says which file is missing', async () => {
    await expect(loadTokenizer(folder)).rejects.toThrow(/tokenizer\.json: no such file; save the tokenizer/);
  });

  it('loads what a built tokenizer holds, with its template', async () => {
    const chatTemplate = '{{ bos_token }}{{ messages[0].content }}{{ eos_token }}';
    const { files } = characterTokenizer('ab', { begin: '<s>', end: '</s>' }, { chatTemplate });
    await save('tokenizer.json', files.tokenizer);
    await save('tokenizer_config.json', files.config);
    const { tokenizer, chat } = await loadTokenizer(folder);
    expect(tokenizer.encode('ba')).toEqual([0, 3, 2]);
    expect(chat!.render([{ role: 'user', content: 'a' }])).toEqual([0, 2, 1]);
    await save('generation_config.json', { eos_token_id: [0, 1] });
    await save('chat_template.jinja', 'b{{ messages[0].content }}');
    const changed = await loadTokenizer(folder);
    expect(changed.tokenizer.eosIds).toEqual([0, 1]);
    expect(changed.chat!.renderText([{ role: 'user', content: 'a' }])).toBe('ba');
  });

  it.each([
    ['{"model":', 'not valid JSON'],
    [Buffer.from('\ufeff{}', 'utf16le'), 'not UTF-8 text; save the file as UTF-8'],
    [Buffer.from('{"é":0}', 'latin1'), 'not UTF-8 text; save the file as UTF-8'],
    ['[]', 'expected a JSON object'],
    ['{}', 'model'],
    ['{"model":{"vocab":{"a":-1}}}', 'model.vocab.a'],
    ['{"model":{"vocab":{"a":0}},"added_tokens":[{"id":1}]}', 'added_tokens.0.content'],
    [
      '{"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"decoder":{"type":"Sequence","decoders":[null]}}',
      'not a tokenizer',
    ],
    ['{"model":{"type":"WordLevel","vocab":{"a":0}}}', 'model.type: only BPE, Unigram and WordPiece'],
  ])('refuses tokenizer.json %s', async (json, message) => {
    await save('tokenizer.json', json);
    const error = await loadTokenizer(folder).catch((reason) => reason);
    expect(error).toBeInstanceOf(FormatError);
    expect(error.message).toContain(message);
    expect(error.message).toContain('tokenizer.json');
  });

  it.each([
    [{ chat_template: [{ name: 'default' }] }, 'chat_template'],
    [{ eos_token: { lstrip: true } }, 'eos_token: expected a token'],
  ])('refuses tokenizer_config.json %j', async (config, message) => {
    await save('tokenizer.json', byteTokenizer().files.tokenizer);
    await save('tokenizer_config.json', config);
    await expect(loadTokenizer(folder)).rejects.toThrow(`tokenizer_config.json: ${message}`);
  });

  it('refuses a template that cannot be read', async () => {
    const other = await mkdtemp(join(folder, 'unreadable-'));
    await writeFile(join(other, 'tokenizer.json'), JSON.stringify(byteTokenizer().files.tokenizer));
    await mkdir(join(other, 'chat_template.jinja'));
    await expect(loadTokenizer(other)).rejects.toThrow(/chat_template\.jinja: file: cannot be read/);
  });

  it('fails on damaged files with nothing but a FormatError', async () => {
    const text = JSON.stringify(byteTokenizer({ begin: '<s>' }).files.tokenizer).slice(0, 6000);
    const damage = fc.tuple(fc.nat(text.length - 1), fc.string({ minLength: 1, maxLength: 2 }));
    await fc.assert(
      fc.asyncProperty(damage, async ([at, inserted]) => {
        await save('tokenizer.json', text.slice(0, at) + inserted + text.slice(at + inserted.length));
        await loadTokenizer(folder).catch((error) => expect(error).toBeInstanceOf(FormatError));
      }),
      { numRuns: 100 },
    );
  });
});

describe('the quick way of a character tokenizer', () => {
  it.each([
    ['ab é東\u{1F600}\n.', { begin: '<s>', end: '</s>', others: ['<think>', '<think>x', 'ab'] }],
    ['ab', { begin: '<s>', unknown: '<unk>', padding: '<p>' }],
    ['abc', {}],
  ])('gives the ids that its saved files give: %j', (alphabet, specials) => {
    const pieces = [...alphabet, '<s>', '</s>', '<unk>', '<think>', '<think>x', '<s', 'z', '\ud800', ''];
    const quick = characterTokenizer(alphabet, specials);
    const saved = textTokenizer(quick.files, 'saved');
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...pieces), { maxLength: 12 }),
        fc.constantFrom('add', 'none'),
        (parts, added) => {
          const text = parts.join('');
          const options = { specialTokens: added as 'add' | 'none' };
          let ids: readonly number[];
          try {
            ids = quick.encode(text, options);
          } catch (error) {
            expect(error).toMatchObject({ message: expect.stringContaining('is not in the alphabet') });
            return;
          }
          expect(ids).toEqual(saved.encode(text, options));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('takes a million characters in less than a second and a half', () => {
    const tokenizer = characterTokenizer('abc', { end: '.' });
    const start = performance.now();
    expect(tokenizer.encode('abc.'.repeat(250_000))).toHaveLength(1_000_000);
    expect(performance.now() - start).toBeLessThan(1500);
  });
});
