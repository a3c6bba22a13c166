import { FormatError, type HostTensor, requireArguments } from '@rlp/core';
import { openSafetensors, readTensors } from '@rlp/models/safetensors';
import { fs, join } from '../node-files.ts';
import { valueHeadFile, valueHeadName } from './value-head.ts';

/**
 * Reads the value head of a trained critic, `score.weight` `[1, hidden size]`. Pass it as `valueHead`.
 *
 * @param path - A checkpoint of a backend with a value head, or the folder or safetensors file of a model
 * with one. Hugging Face's classification models with one label have such a row.
 * @throws FormatError if the tensor is missing.
 */
export async function readValueHead(path: string): Promise<HostTensor> {
  requireArguments('readValueHead', { path: 'text' }, path);
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
  const found = await fs()
    .stat(path)
    .catch(() => undefined);
  return found?.isFile() ?? false;
}
