import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { GGMLQuantizationType, gguf } from '@huggingface/gguf';
import { afterAll, describe, expect, it } from 'vitest';
import { loadModel } from '../../model/load-model.ts';
import { goldenFolder, hasSharedData, sharedData } from '../../testing/shared-data.ts';
import { tinyModel, unkept } from '../../testing/tiny-models.ts';
import { characterTokenizer } from '../../tokenizer/built-tokenizers.ts';
import { loadTokenizer } from '../../tokenizer/load-tokenizer.ts';
import { exportGguf } from './export-gguf.ts';
import { ggufTokenizer } from './gguf-tokenizer.ts';
import { encodeValues } from './quantize.ts';

const root = mkdtempSync(join(tmpdir(), 'rlp-gguf-'));
afterAll(() => rmSync(root, { recursive: true }));
const read = (path: string) => gguf(path, { allowLocalFile: true });

/** Float32 values of a tensor of a file. */
async function values(path: string, name: string, count: number): Promise<readonly number[]> {
  const { tensorInfos, tensorDataOffset } = await read(path);
  const { offset } = tensorInfos.find((info) => info.name === name)!;
  const start = Number(tensorDataOffset + offset);
  return [...new Float32Array(readFileSync(path).buffer.slice(start, start + 4 * count))];
}

describe('encodeValues', () => {
  it('quantizes as the gguf package of PyPI does', () => {
    const numbers = Float32Array.from({ length: 64 }, (_, i) => (((i * 37) % 101) - 50) / 8);
    expect(Buffer.from(encodeValues('Q8_0', numbers)).toString('hex')).toBe(
      '4d2a81df3d9af856b41270cd2b89e745a2005ebb1977d53390ee4caa0866c3217fdc' +
        '2c2a3c96f656b0106fca2984e3439efd5db71777d1318beb4ba50565bf1f7fd93993',
    );
    expect([...encodeValues('Q8_0', new Float32Array(32))]).toEqual(new Array(34).fill(0));
  });
});

describe('exportGguf, read with @huggingface/gguf', () => {
  it('has shape, tokenizer and tensors of a Llama, with interleaved halves of heads', async () => {
    const model = await loadModel(goldenFolder('stories260k'));
    const path = await exportGguf(join(root, 'stories'), model, { dtype: 'F32' });
    expect(basename(path)).toBe('stories260k-F32.gguf');
    const { metadata, tensorInfos } = await read(path);
    expect(metadata).toMatchObject({
      'general.architecture': 'llama',
      'llama.block_count': 5,
      'llama.attention.head_count_kv': 4,
      'llama.rope.dimension_count': 8,
      'tokenizer.ggml.model': 'llama',
      'tokenizer.ggml.bos_token_id': 1,
      'tokenizer.ggml.add_bos_token': true,
      'tokenizer.ggml.add_space_prefix': true,
    });
    const fields = metadata as unknown as Record<string, readonly unknown[]>;
    expect(fields['tokenizer.ggml.tokens']).toHaveLength(512);
    expect(fields['tokenizer.ggml.token_type']!.slice(0, 4)).toEqual([3, 3, 3, 6]);
    const query = tensorInfos.find(({ name }) => name === 'blk.0.attn_q.weight')!;
    expect([query.dtype, query.shape.map(Number)]).toEqual([GGMLQuantizationType.F32, [64, 64]]);
    expect(tensorInfos.some(({ name }) => name === 'output.weight')).toBe(false);
    const rows = model.weights.get('model.layers.0.self_attn.q_proj.weight')!.data;
    const row = (index: number) => [...rows.subarray(64 * index, 64 * (index + 1))];
    // Heads of 8: rows 0, 4, 1, 5, …
    const stored = await values(path, 'blk.0.attn_q.weight', 64 * 10);
    expect(stored).toEqual([0, 4, 1, 5, 2, 6, 3, 7, 8, 12].flatMap(row));
  });

  it.each(['F16', 'BF16', 'Q8_0'] as const)('stores matrices as %s and vectors as F32', async (dtype) => {
    const model = await loadModel(goldenFolder('stories260k'));
    const { tensorInfos } = await read(await exportGguf(join(root, dtype), model, { dtype }));
    const typeOf = (name: string) => tensorInfos.find((info) => info.name === name)!.dtype;
    expect(typeOf('token_embd.weight')).toBe(GGMLQuantizationType[dtype]);
    expect(typeOf('output_norm.weight')).toBe(GGMLQuantizationType.F32);
    // 172 columns are not whole blocks of 32.
    const other = dtype === 'Q8_0' ? 'F16' : dtype;
    expect(typeOf('blk.0.ffn_down.weight')).toBe(GGMLQuantizationType[other]);
  });

  it('has norms of heads, biases and scaled rotations', async () => {
    const three = await read(
      await exportGguf(join(root, 'qwen3'), tinyModel('qwen3', { attention_bias: false })),
    );
    expect(three.metadata['general.architecture']).toBe('qwen3');
    expect(three.tensorInfos.map(({ name }) => name)).toContain('blk.1.attn_k_norm.weight');
    const two = await read(await exportGguf(join(root, 'qwen2'), tinyModel('qwen2')));
    expect(two.tensorInfos.map(({ name }) => name)).toContain('blk.0.attn_q.bias');
    expect(two.metadata).toMatchObject({ 'tokenizer.ggml.model': 'gpt2' });
    const path = await exportGguf(join(root, 'scaled'), tinyModel('llama-llama3'), { dtype: 'F32' });
    const factors = await values(path, 'rope_freqs.weight', 3);
    // The config's `factor` divides the lowest frequency whole.
    expect(factors.at(-1)).toBe(8);
    const yarn = await read(await exportGguf(join(root, 'yarn'), tinyModel('llama-yarn')));
    expect(yarn.metadata).toMatchObject({ 'llama.rope.scaling.type': 'yarn' });
  });

  it('says what llama.cpp cannot run', async () => {
    const out = join(root, 'none');
    await expect(exportGguf(out, tinyModel('gemma3'))).rejects.toThrow(
      'expected a model of the families llama, mistral, qwen2, qwen3, got gemma3_text',
    );
    await expect(exportGguf(out, tinyModel('mistral-window'))).rejects.toThrow('has no sliding window');
    await expect(exportGguf(out, tinyModel('qwen3'))).rejects.toThrow('has no biases of queries');
    const tokenizer = characterTokenizer('abc ', { begin: '<s>', end: '</s>' });
    const model = { ...tinyModel('llama-linear'), tokenizer };
    await expect(exportGguf(out, model)).rejects.toThrow('expected a byte-level BPE tokenizer');
    expect(existsSync(out)).toBe(false);
  });

  it.runIf(hasSharedData()).each([
    ['qwen3', 'qwen2'],
    ['gpt2', 'gpt-2'],
  ])('names the pre-tokenizer of %s', async (name, expected) => {
    const { tokenizer } = await loadTokenizer(join(sharedData, 'tokenizers', name));
    const config = { ...tinyModel('qwen3').config, vocabularySize: tokenizer.vocabularySize + 3 };
    const fields = ggufTokenizer(tokenizer, config, {});
    expect(fields.get('tokenizer.ggml.pre')).toEqual({ type: 'string', value: expected });
    const tokens = fields.get('tokenizer.ggml.tokens')!.value as readonly string[];
    expect(tokens.at(-1)).toBe(`[PAD${tokens.length - 1}]`);
  });
});

it('reads weights that stay in their file once, and keeps none', async () => {
  const model = await loadModel(goldenFolder('stories260k'));
  for (const dtype of ['F32', 'Q8_0'] as const) {
    const expected = readFileSync(await exportGguf(join(root, `memory ${dtype}`), model, { dtype }));
    const path = await exportGguf(join(root, `file ${dtype}`), unkept(model), { dtype });
    expect(readFileSync(path).equals(expected)).toBe(true);
  }
});
