import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TrainingError, type Weights } from '@rlp/core';
import { type LanguageModel, parameterSpecs } from '@rlp/models';
import { writeDirectory } from '../weights/checkpoint.ts';
import { ModelFiles, modelFile, savingWith } from '../weights/model-files.ts';

/** A model's weights as files: in checkpoints and in publications. */
export class WeightFiles extends ModelFiles {
  readonly #publications: string | undefined;

  constructor(model: LanguageModel, publications: string | undefined) {
    super(parameterSpecs(model.config), savingWith(model));
    this.#publications = publications;
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
