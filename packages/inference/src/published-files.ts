import { messageOf, SamplerError, type Weights } from '@rlp/core';
import {
  checkBaseModel,
  type LanguageModel,
  type LoraAdapter,
  loadWeights,
  type ModelConfig,
  readLoraAdapter,
} from '@rlp/models';

/**
 * Reads an adapter in PEFT's files.
 *
 * @throws SamplerError whose cause names file, tensor and remedy.
 */
export function readAdapter(
  { config, folder }: Pick<LanguageModel, 'config' | 'folder'>,
  path: string,
): Promise<LoraAdapter> {
  return takenOver('adapter', async () => {
    const adapter = await readLoraAdapter(path, config);
    await checkBaseModel(adapter.baseModel, folder);
    return adapter;
  });
}

/**
 * Reads a model's weights from a folder with safetensors files in Hugging Face names.
 *
 * @throws SamplerError whose cause is a FormatError that names file, tensor and remedy.
 */
export function readCheckpoint(config: ModelConfig, path: string): Promise<Weights> {
  return takenOver('checkpoint', async () => (await loadWeights(path, config)).weights);
}

async function takenOver<Value>(what: string, read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (cause) {
    throw new SamplerError(`updateWeights: the ${what} cannot be taken over: ${messageOf(cause)}`, { cause });
  }
}
