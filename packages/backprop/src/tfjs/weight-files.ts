import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TrainingError, type Weights } from '@rlp/core';
import {
  type DecoderParameter,
  type LanguageModel,
  parameterSpecs,
  readSafetensors,
  saveModel,
} from '@rlp/models';
import { writeDirectory } from '../checkpoint.ts';
import { checkWeights } from '../policy-weights.ts';
import type { CheckpointWeights } from '../training-checkpoint.ts';

const modelFile = 'model.safetensors';

/** A model's weights as files: in checkpoints and in publications. */
export class WeightFiles implements CheckpointWeights {
  readonly adaptation = 'full';
  readonly specs: readonly DecoderParameter[];
  readonly #model: LanguageModel;
  readonly #publications: string | undefined;

  constructor(model: LanguageModel, publications: string | undefined) {
    this.#model = model;
    this.#publications = publications;
    this.specs = parameterSpecs(model.config);
  }

  check(owner: string, weights: Weights): void {
    checkWeights(owner, this.specs, weights);
  }

  /** Writes `model.safetensors`, `config.json` and the tokenizer's files. */
  async write(directory: string, weights: Weights): Promise<void> {
    await saveModel(directory, { ...this.#model, weights });
  }

  async readFiles(directory: string): Promise<Weights> {
    const path = join(directory, modelFile);
    const weights = await readSafetensors(path);
    this.check(`loadCheckpoint ${path}`, weights);
    return weights;
  }

  /**
   * Writes a model folder named by its version, and removes the one before the previous: a sampler may still be reading
   * that. Resolves with the folder's path.
   *
   * @throws TrainingError if the backend was given no directory for publications.
   */
  async publish(version: number, weights: Weights): Promise<string> {
    const root = this.#publications;
    if (root === undefined) {
      throw new TrainingError(
        "publish: there is nowhere to publish to; create the backend with publications: '<directory>'",
      );
    }
    const path = join(root, String(version));
    await writeDirectory(path, modelFile, (temporary) => this.write(temporary, weights));
    await rm(join(root, String(version - 2)), { recursive: true, force: true });
    return path;
  }
}
