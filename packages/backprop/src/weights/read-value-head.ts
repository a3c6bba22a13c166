import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FormatError, type HostTensor } from '@rlp/core';
import { openSafetensors, readTensors } from '@rlp/models';
import { valueHeadFile, valueHeadName } from './value-head.ts';

/**
 * Reads the value head of a critic that was trained before, `score.weight` `[1, hidden size]`, to be given to
 * `createOnnxBackend` as `valueHead`.
 *
 * @param path - A checkpoint of a backend with a value head, or the folder or safetensors file of a model that has the row beside its decoder, as
 *   Hugging Face's classification models with one label do.
 * @throws FormatError if there is no such tensor.
 */
export async function readValueHead(path: string): Promise<HostTensor> {
  const own = join(path, valueHeadFile);
  const { tensors, files } = await openSafetensors((await isFile(own)) ? own : path);
  const stored = tensors.get(valueHeadName);
  if (!stored) {
    throw new FormatError(
      `${files[0] ?? path}: holds no "${valueHeadName}"; give the folder of a critic, or create the backend with valueHead: 'linear'`,
    );
  }
  return (await readTensors([stored])).get(valueHeadName)!;
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ?? false;
}
