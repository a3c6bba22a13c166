import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AutoModelForCausalLM, AutoTokenizer, env, Tensor } from '@huggingface/transformers';
import { afterAll, describe, expect, it } from 'vitest';
import type { LanguageModel } from '../../model/language-model.ts';
import { loadModel } from '../../model/load-model.ts';
import { logitsOf } from '../../testing/run-decoder.ts';
import { goldenFolder, goldenJson } from '../../testing/shared-data.ts';
import { tinyModel, unkept } from '../../testing/tiny-models.ts';
import { exportOnnx } from './export-onnx.ts';

const root = mkdtempSync(join(tmpdir(), 'rlp-onnx-'));
afterAll(() => rmSync(root, { recursive: true }));
Object.assign(env, { allowRemoteModels: false, localModelPath: root });

const ints = (rows: readonly (readonly number[])[]) =>
  new Tensor('int64', BigInt64Array.from(rows.flat(), BigInt), [rows.length, rows[0]!.length]);

/** The model as transformers.js loads it. */
async function loaded(name: string, model: LanguageModel, options = {}) {
  await exportOnnx(join(root, name), model, options);
  const network = await AutoModelForCausalLM.from_pretrained(name, { dtype: 'fp32' });
  return {
    network,
    async greedy(rows: readonly (readonly number[])[], mask: readonly (readonly number[])[], count: number) {
      const settings = { max_new_tokens: count, min_new_tokens: count, do_sample: false };
      const inputs = { input_ids: ints(rows), attention_mask: ints(mask) };
      const out = (await network.generate({ ...inputs, ...settings })) as Tensor;
      return (out.tolist() as bigint[][]).map((row) => row.slice(-count).map(Number));
    },
  };
}

describe('exportOnnx, loaded with transformers.js', () => {
  it.each([
    ['graph', {}],
    ['file', { externalFrom: 0 }],
  ] as const)('continues greedily as transformers does, with weights in a %s', async (where, options) => {
    const model = await loadModel(goldenFolder('stories260k'));
    const { greedy } = await loaded(`stories-${where}`, model, options);
    expect(readdirSync(join(root, `stories-${where}`, 'onnx')).includes('model.onnx_data')).toBe(
      where === 'file',
    );
    const { cases } = goldenJson<{
      readonly cases: readonly {
        readonly input_ids: number[];
        readonly greedy_ids: number[];
        text: string;
      }[];
    }>('stories260k', 'golden.json');
    for (const { input_ids: ids, greedy_ids: expected, text } of cases.slice(0, 2)) {
      expect(await greedy([ids], [ids.map(() => 1)], expected.length)).toEqual([expected]);
      const tokenizer = await AutoTokenizer.from_pretrained(`stories-${where}`);
      expect(tokenizer.encode(text)).toEqual(ids);
    }
  });

  it.each(['qwen3', 'gemma3', 'gpt2'])('%s: gives our logits, step by step', async (name) => {
    const model = tinyModel(name);
    const { network, greedy } = await loaded(name, model);
    const ids = model.tokenizer.encode('Once upon a time');
    const compute = await logitsOf(model.config, 1, ids.length);
    const ours = await compute(model.weights, [ids]);
    const mask = ids.map(() => 1);
    const { logits } = await network({ input_ids: ints([ids]), attention_mask: ints([mask]) });
    const theirs = (logits as Tensor).data as Float32Array;
    expect(theirs.length).toBe(ours.length);
    for (const [index, value] of theirs.entries()) expect(Math.abs(value - ours[index]!)).toBeLessThan(2e-4);
    // Padding on the left changes nothing, nor does what the row beside it holds.
    const [, padded] = await greedy(
      [
        [...ids, 5],
        [0, ...ids],
      ],
      [
        [...mask, 1],
        [0, ...mask],
      ],
      6,
    );
    expect([padded]).toEqual(await greedy([ids], [mask], 6));
  });
});

it.each([
  ['model.onnx', {}],
  ['model.onnx_data', { externalFrom: 0 }],
] as const)('writes weights that stay in their file to %s, and keeps none', async (file, options) => {
  const model = tinyModel('qwen3');
  const written = async (name: string, exported: LanguageModel) => {
    await exportOnnx(join(root, name), exported, options);
    return readFileSync(join(root, name, 'onnx', file));
  };
  const expected = await written(`memory ${file}`, model);
  expect((await written(`file ${file}`, unkept(model))).equals(expected)).toBe(true);
});
