import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ArgumentError, FormatError, type HostTensor, OptionsError } from '@rlp/core';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { parseModelConfig } from '../config/parse-config.ts';
import { parameterSpecs } from '../decoder/parameters.ts';
import { modelFolder } from '../hub/model-folder.ts';
import { openSafetensors } from '../safetensors/read.ts';
import { writeSafetensors } from '../safetensors/write.ts';
import { byteTokenizer, characterTokenizer } from '../tokenizer/built-tokenizers.ts';
import { loadTokenizer } from '../tokenizer/load-tokenizer.ts';
import { createModel } from './create-model.ts';
import { loadModel, loadModelConfig } from './load-model.ts';
import { saveModel } from './save-model.ts';

const tokenizer = characterTokenizer('abcd', { begin: '<s>', end: '</s>', padding: '<pad>' });
const llama = {
  model_type: 'llama',
  vocab_size: 7,
  hidden_size: 8,
  intermediate_size: 12,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  tie_word_embeddings: true,
};
const gpt2 = { model_type: 'gpt2', vocab_size: 7, n_embd: 64, n_layer: 2, n_head: 2, n_positions: 16 };
const make = (json: Record<string, unknown> = llama) =>
  createModel({ config: parseModelConfig(json), tokenizer, seed: 'test' });

let root: string;
let folder: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rlp-model-'));
});
beforeEach(async () => {
  folder = await mkdtemp(join(root, 'm-'));
});
afterAll(() => rm(root, { recursive: true }));

describe('createModel', () => {
  const deviation = (data: Float32Array) =>
    Math.sqrt(data.reduce((total, value) => total + value * value, 0) / data.length);

  it('draws matrices with the initializer range, norms 1, biases 0', () => {
    const { weights } = make(gpt2);
    expect(deviation(weights.get('transformer.h.0.mlp.c_fc.weight')!.data)).toBeCloseTo(0.02, 3);
    expect(deviation(weights.get('transformer.h.0.mlp.c_proj.weight')!.data)).toBeCloseTo(0.01, 3);
    expect([...weights.get('transformer.ln_f.weight')!.data]).toEqual(new Array(64).fill(1));
    expect([...weights.get('transformer.ln_f.bias')!.data]).toEqual(new Array(64).fill(0));
    expect(deviation(weights.get('transformer.h.1.attn.c_attn.bias')!.data)).toBe(0);
  });

  it('gives equal weights for equal seeds, and each tensor its own stream', () => {
    const first = make();
    expect(make().weights).toEqual(first.weights);
    const other = createModel({ config: parseModelConfig(llama), tokenizer, seed: 'other' });
    expect(other.weights.get('model.embed_tokens.weight')).not.toEqual(
      first.weights.get('model.embed_tokens.weight'),
    );
    const wider = make({ ...llama, tie_word_embeddings: false, num_hidden_layers: 3 });
    const name = 'model.layers.1.mlp.up_proj.weight';
    expect(wider.weights.get(name)).toEqual(first.weights.get(name));
  });

  it('takes begin, end and padding tokens from the tokenizer', () => {
    expect(make({ ...llama, eos_token_id: 5 }).config).toMatchObject({ bosId: 0, eosIds: [1], paddingId: 2 });
  });

  it('names everything that it lacks', () => {
    expect(() => createModel({ config: { hidden_size: 8 } } as never)).toThrow(
      /config: must be the shape of a model; parseModelConfig[\s\S]*tokenizer: must be a tokenizer[\s\S]*seed: expected text/,
    );
  });

  it('refuses a tokenizer with more tokens than embeddings', () => {
    expect(() => make({ ...llama, vocab_size: 6 })).toThrow('has 7 tokens, config.json a vocab_size of 6');
    const config = parseModelConfig({ ...llama, eos_token_id: 7 });
    const endless = () => createModel({ config, tokenizer: characterTokenizer('a'), seed: '' });
    expect(endless).toThrow('token 7 begins or ends sequences but vocab_size is 7');
  });
});

it('createModel says which tensor is larger than memory', () => {
  const huge = { ...llama, hidden_size: 2 ** 30, vocab_size: 2 ** 30 };
  expect(() => make(huge)).toThrow('createModel: no memory for model.embed_tokens.weight');
});

describe('saveModel and loadModel', () => {
  it('give a model back', async () => {
    const model = make({ ...llama, rope_scaling: { type: 'linear', factor: 2 } });
    await saveModel(folder, model);
    const loaded = await loadModel(folder);
    expect(new Map([...loaded.weights].sort())).toEqual(new Map([...model.weights].sort()));
    const { source, generation: _, ...config } = loaded.config;
    expect(config).toEqual({ ...model.config, source: undefined, generation: undefined });
    expect(source.architectures).toEqual(['LlamaForCausalLM']);
    expect(loaded.tokenizer.encode('ab')).toEqual([0, 3, 4]);
    expect(loaded.tokenizer.eosIds).toEqual([1]);
    expect(loaded.files.get('model.norm.weight')).toMatchObject({
      file: join(folder, 'model.safetensors'),
      length: 32,
    });
  });

  it('store a tied matrix once, and half precision where asked', async () => {
    await saveModel(folder, make(), { dtype: 'BF16' });
    const { tensors } = await openSafetensors(folder);
    expect([...tensors.keys()].sort()).toEqual(
      parameterSpecs(make().config)
        .map(({ name }) => name)
        .sort(),
    );
    expect(tensors.get('model.norm.weight')!.type).toBe('BF16');
    expect(JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'))).toMatchObject({
      torch_dtype: 'bfloat16',
      tie_word_embeddings: true,
      eos_token_id: 1,
    });
  });

  it('keep how the model is to be sampled', async () => {
    const model = make();
    const config = { ...model.config, generation: { temperature: 0.7, eos_token_id: 9 } };
    await saveModel(folder, { ...model, config });
    const { generation } = (await loadModel(folder)).config;
    expect(generation).toEqual({ temperature: 0.7, bos_token_id: 0, eos_token_id: 1, pad_token_id: 2 });
  });

  it('leave no weights of an earlier save behind', async () => {
    await saveModel(folder, make(), { maxShardBytes: 500 });
    expect((await readdir(folder)).filter((name) => name.startsWith('model-')).length).toBeGreaterThan(2);
    await saveModel(folder, make());
    expect((await readdir(folder)).sort()).toEqual([
      'SHA256SUMS',
      'config.json',
      'generation_config.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
  });

  it('read a tied matrix stored as lm_head.weight, and names without the base prefix', async () => {
    const model = make(gpt2);
    await saveModel(folder, model);
    const renamed = [...model.weights].map(([name, tensor]) => {
      const short = name.replace('transformer.', '');
      return [short === 'wte.weight' ? 'lm_head.weight' : short, tensor] as const;
    });
    await writeSafetensors(join(folder, 'model.safetensors'), new Map(renamed));
    const loaded = await loadModel(folder);
    expect(new Map([...loaded.weights].sort())).toEqual(new Map([...model.weights].sort()));
    expect(loaded.files.get('transformer.wte.weight')!.name).toBe('lm_head.weight');
  });

  it('stop when aborted, leaving no unfinished file', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(saveModel(folder, make(), { signal })).rejects.toThrow('enough');
    expect(await readdir(folder)).toEqual([]);
    await saveModel(folder, make());
    await expect(loadModel(folder, { signal })).rejects.toThrow('enough');
  });

  it.each([
    ['loadModel', loadModel],
    ['loadTokenizer', loadTokenizer],
    ['loadModelConfig', loadModelConfig],
    ['modelFolder', modelFolder],
  ])('name every misspelt option before reading: %s', async (owner, load) => {
    const options = { signals: undefined, hub: 'main' } as object;
    const error = await load(folder, options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OptionsError);
    expect(error).toMatchObject({
      message: expect.stringMatching(`^${owner}: invalid options`),
      issues: [
        'hub: must be an object, such as { revision }',
        'Unrecognized option "signals"; did you mean signal?',
      ],
    });
  });

  it('leave an earlier save as it was when aborted between two shards', async () => {
    await saveModel(folder, make(), { maxShardBytes: 500 });
    let left = 10;
    const throwIfAborted = () => {
      if (left-- === 0) throw new Error('enough');
    };
    const signal = Object.assign(new AbortController().signal, { throwIfAborted });
    const later = createModel({ config: make().config, tokenizer, seed: 'later' });
    await expect(saveModel(folder, later, { maxShardBytes: 500, signal })).rejects.toThrow('enough');
    expect(new Map((await loadModel(folder)).weights)).toEqual(new Map(make().weights));
  });

  it('refuse a folder with other files, and weights with a flipped bit', async () => {
    await saveModel(folder, make());
    const path = join(folder, 'model.safetensors');
    const bytes = await readFile(path);
    bytes[bytes.length - 3]! ^= 4;
    await writeFile(path, bytes);
    await expect(loadModel(folder)).rejects.toThrow(`${path}: the file differs from its SHA-256`);
    await loadModel(folder, { checksums: 'skip' });
    await writeFile(join(folder, 'thesis.txt'), 'years of work');
    await expect(saveModel(folder, make())).rejects.toThrow(
      /other files \(thesis\.txt\).*choose another path/,
    );
    expect(await readFile(join(folder, 'thesis.txt'), 'utf8')).toBe('years of work');
  });

  it('refuse weights that nobody awaited', async () => {
    const model = make();
    const unawaited = { ...model, weights: Promise.resolve(model.weights) as never };
    await expect(saveModel(join(tmpdir(), 'never-saved'), unawaited)).rejects.toThrow(
      'weights: must be a Map of tensors by name; await what getWeights returns',
    );
  });

  it('refuse weights that are not those of the config', async () => {
    const model = make();
    const missing = new Map([...model.weights].slice(1));
    await expect(saveModel(folder, { ...model, weights: missing })).rejects.toThrow(ArgumentError);
    const extra = new Map([...model.weights, ['x', { shape: [1], data: new Float32Array(1) }]]);
    await expect(saveModel(folder, { ...model, weights: extra })).rejects.toThrow('"x" is not a weight');
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('loadModel of a damaged folder', () => {
  const rewrite = async (
    name: string,
    change: (json: Record<string, unknown>) => Record<string, unknown>,
  ) => {
    const file = join(folder, name);
    await writeFile(file, JSON.stringify(change(JSON.parse(await readFile(file, 'utf8')))));
  };

  beforeEach(() => saveModel(folder, make()));

  it('says that config.json is missing', async () => {
    await rm(join(folder, 'config.json'));
    await expect(loadModel(folder)).rejects.toThrow(/config\.json: no such file/);
  });

  it('lists every tensor that is missing or has another shape', async () => {
    await rewrite('config.json', (json) => ({ ...json, intermediate_size: 16, num_hidden_layers: 3 }));
    const error = await loadModel(folder).catch((reason) => reason);
    expect(error).toBeInstanceOf(FormatError);
    expect(error.message).toContain(
      'model.layers.0.mlp.gate_proj.weight: expected shape [16,8] by the config, got [12,8]',
    );
    expect(error.message).toContain('more');
    expect(error.message).toContain('check that config.json belongs to these weights');
  });

  it('lists layers and biases that the config leaves out', async () => {
    await saveModel(folder, make({ ...llama, attention_bias: true, num_hidden_layers: 3 }));
    await rewrite('config.json', (json) => ({ ...json, attention_bias: false, num_hidden_layers: 2 }));
    const error = await loadModel(folder).catch((reason) => reason);
    expect(error).toBeInstanceOf(FormatError);
    expect(error.message).toContain('model.layers.0.self_attn.q_proj.bias: not in the config');
    await rewrite('config.json', (json) => ({ ...json, attention_bias: true }));
    await expect(loadModel(folder)).rejects.toThrow(
      'model.layers.2.input_layernorm.weight: not in the config',
    );
  });

  it('ignores causal masks of GPT-2, rotary frequencies and what is outside of the layers', async () => {
    const cases = [
      [gpt2, ['transformer.h.0.attn.bias', 'transformer.h.1.attn.masked_bias', 'score.weight']],
      [llama, ['model.layers.0.self_attn.rotary_emb.inv_freq', 'lm_head.weight']],
    ] as const;
    for (const [json, names] of cases) {
      const model = make(json);
      const copy = join(folder, json.model_type);
      await saveModel(copy, model);
      await rm(join(copy, 'SHA256SUMS'));
      const tensors = new Map<string, HostTensor>(model.weights);
      for (const name of names) tensors.set(name, { shape: [1], data: Float32Array.of(1) });
      await writeSafetensors(join(copy, 'model.safetensors'), tensors);
      expect((await loadModel(copy)).weights).toEqual(model.weights);
    }
  });

  it('names both sizes when the tokenizer does not fit', async () => {
    const { files } = byteTokenizer();
    await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(files.tokenizer));
    await expect(loadModel(folder)).rejects.toThrow(
      'the tokenizer has 256 tokens, config.json a vocab_size of 7',
    );
  });

  it('refuses end tokens that the model does not have', async () => {
    await rewrite('generation_config.json', (json) => ({ ...json, eos_token_id: [1, 99] }));
    await expect(loadModel(folder)).rejects.toThrow('token 99 begins or ends sequences but vocab_size is 7');
  });

  it('fails on truncated or changed files with nothing but a FormatError', async () => {
    const names = [
      'config.json',
      'tokenizer.json',
      'tokenizer_config.json',
      'generation_config.json',
      'model.safetensors',
    ];
    const damage = fc.record({
      name: fc.constantFrom(...names),
      at: fc.double({ min: 0, max: 0.999, noNaN: true }),
      byte: fc.integer({ min: -1, max: 255 }),
    });
    await fc.assert(
      fc.asyncProperty(damage, async ({ name, at, byte }) => {
        const file = join(folder, name);
        const original = await readFile(file);
        const position = Math.floor(at * original.length);
        if (byte < 0) await truncate(file, position);
        else await writeFile(file, original.with(position, byte));
        await loadModel(folder).catch((error) => expect(error).toBeInstanceOf(FormatError));
        await writeFile(file, original);
      }),
      { numRuns: 80 },
    );
  });
});
