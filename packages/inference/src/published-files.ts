import { SamplerError } from '@rlp/core';
import { checkBaseModel, type LanguageModel, type LoraAdapter, readLoraAdapter } from '@rlp/models';

/**
 * Reads an adapter in PEFT's files.
 *
 * @throws SamplerError, caused by the error that names file, tensor and remedy.
 */
export async function readAdapter(
  { config, folder }: Pick<LanguageModel, 'config' | 'folder'>,
  path: string,
): Promise<LoraAdapter> {
  try {
    const adapter = await readLoraAdapter(path, config);
    await checkBaseModel(adapter.baseModel, folder);
    return adapter;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SamplerError(`updateWeights: the adapter cannot be taken over: ${reason}`, { cause });
  }
}
