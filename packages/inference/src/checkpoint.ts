import { SamplerError, type Weights } from '@rlp/core';
import { loadWeights, type ModelConfig } from '@rlp/models';

/**
 * Reads a model's weights from a folder with safetensors files in Hugging Face names.
 *
 * @throws SamplerError, caused by the FormatError that names file, tensor and remedy.
 */
export async function readCheckpoint(config: ModelConfig, path: string): Promise<Weights> {
  try {
    return (await loadWeights(path, config)).weights;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SamplerError(`updateWeights: the checkpoint cannot be taken over: ${reason}`, { cause });
  }
}
