import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FormatError, numbersOf } from '@rlp/core';
import { expect, it, onTestFinished } from 'vitest';
import { parseModelConfig } from '../config/parse-config.ts';
import { parameterSpecs } from '../decoder/parameters.ts';
import { characterTokenizer } from '../tokenizer/built-tokenizers.ts';
import { loadModel } from './load-model.ts';
import { writeDescriptionFiles } from './save-model.ts';

const config = parseModelConfig({
  ...{ model_type: 'llama', vocab_size: 2 ** 15, hidden_size: 512, intermediate_size: 64 },
  ...{ num_hidden_layers: 1, num_attention_heads: 8, num_key_value_heads: 1, tie_word_embeddings: true },
  ...{ hidden_act: 'silu', max_position_embeddings: 64, rms_norm_eps: 1e-5, rope_theta: 10_000 },
});
const embedding = 'model.embed_tokens.weight';
const row = 512;

/** A model of 67 MB in float32. Its file has holes for all weights but two rows of the embedding. */
async function largeModel() {
  const folder = mkdtempSync(join(tmpdir(), 'rlp-large-model-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'model.safetensors');
  let end = 0;
  const entries = parameterSpecs(config).map(({ name, shape }) => {
    const begin = end;
    end += 2 * shape.reduce((product, length) => product * length, 1);
    return [name, { dtype: 'BF16', shape, data_offsets: [begin, end] }] as const;
  });
  const text = JSON.stringify(Object.fromEntries(entries));
  const header = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8));
  const data = 8 + header.length;
  const descriptor = openSync(file, 'w');
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  writeSync(descriptor, Buffer.concat([length, header]));
  ftruncateSync(descriptor, data + end);
  // 1 and −3.140625 in bfloat16.
  const place = entries.find(([name]) => name === embedding)![1].data_offsets[0];
  writeSync(descriptor, Buffer.alloc(2 * row, '803f', 'hex'), 0, 2 * row, data + place + 2 * row);
  writeSync(descriptor, Buffer.alloc(2 * row, '49c0', 'hex'), 0, 2 * row, data + place + 2 * row * 32_767);
  closeSync(descriptor);
  await writeDescriptionFiles(folder, { config, tokenizer: characterTokenizer('abc ') }, 'BF16');
  return { folder, file };
}

it('weights of more than 64 MiB stay in their file, and are read in the parts that are asked for', async () => {
  const { folder } = await largeModel();
  const before = process.memoryUsage().arrayBuffers;
  const { weights } = await loadModel(folder);
  const tensor = weights.get(embedding)!;
  expect([...weights.values()].every(({ copyTo }) => copyTo !== undefined)).toBe(true);
  const part = new Float32Array(3 * row);
  tensor.copyTo!(part, 0);
  expect(part).toEqual(new Float32Array(3 * row).fill(1, row, 2 * row));
  tensor.copyTo!(part, (32_768 - 3) * row);
  expect(part).toEqual(new Float32Array(3 * row).fill(-3.140625, 2 * row));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 23);
  const whole = numbersOf(tensor);
  expect(whole).toHaveLength(32_768 * row);
  expect(whole.reduce((sum, value) => sum + value)).toBe(row * (1 - 3.140625));
});

it('a large file that was cut off or has changed is refused', async () => {
  const { folder, file } = await largeModel();
  const { weights } = await loadModel(folder);
  truncateSync(file, 40_000_000);
  expect(() => numbersOf(weights.get(embedding)!)).toThrow('the file was changed after it was opened');
  await expect(loadModel(folder)).rejects.toThrow(FormatError);
  truncateSync(file, 4_000_000);
  await expect(loadModel(folder)).rejects.toThrow(/ends at byte \d+, the file at 4000000: it is truncated/);
});
