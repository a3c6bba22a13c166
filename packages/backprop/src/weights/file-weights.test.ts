import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ArgumentError } from '@rlp/core';
import { saveModel } from '@rlp/models';
import { fileTensors, openSafetensors, readSafetensors } from '@rlp/models/safetensors';
import { expect, it } from 'vitest';
import { inlineBackends, temporaryCheckpoint } from '../testing/inline-backends.ts';
import { tinyModel } from '../testing/tiny-model.ts';

const { create } = inlineBackends();

async function stored() {
  const model = tinyModel({});
  const folder = await temporaryCheckpoint();
  await saveModel(folder, model, { dtype: 'BF16' });
  const path = join(folder, 'model.safetensors');
  const { tensors } = await openSafetensors(path);
  return {
    path,
    place: (name: string) => tensors.get(name)!.offset,
    inMemory: async () => ({ ...model, weights: await readSafetensors(path) }),
    inFile: () => ({ ...model, weights: fileTensors([...tensors.values()]) }),
  };
}

it.each([
  {},
  { lora: {} },
  { lora: { base: 'int8' } },
  { lora: { base: 'nf4' } },
  { lora: { variant: 'dora' } },
] as const)('weights that stay in their file become those of memory, with %j', async (options) => {
  const { inMemory, inFile } = await stored();
  const [memory, file] = [await inMemory(), inFile()];
  const expected = await (await create({ model: memory, ...options })).backend.getWeights();
  const { backend } = await create({ model: file, ...options });
  expect(await backend.getWeights()).toEqual(expected);
});

it('weights in a file are refused if they are not finite, whatever becomes of them', async () => {
  const { path, place, inFile } = await stored();
  const name = 'model.layers.0.self_attn.q_proj.weight';
  const bytes = await readFile(path);
  // A NaN of bfloat16 as the third number.
  bytes.writeUInt16LE(0x7fc0, place(name) + 4);
  await writeFile(path, bytes);
  const message = `"${name}" has the value NaN at 2, expected finite ones`;
  for (const options of [{}, { lora: {} }, { lora: { base: 'nf4' } }] as const) {
    const creation = create({ model: inFile(), ...options });
    await expect(creation).rejects.toThrow(ArgumentError);
    await expect(creation).rejects.toThrow(`createOnnxBackend: ${message}`);
  }
  const { backend } = await create({ model: tinyModel({}) });
  await expect(backend.loadWeights(inFile().weights)).rejects.toThrow(`loadWeights: ${message}`);
});
