import type { Weights } from '@rlp/core';
import { type LanguageModel, writeModelFiles } from '@rlp/models';
import { readSafetensors } from '@rlp/models/safetensors';
import type { ParameterSpec } from '@rlp/onnx/runtime';
import { join } from '../node-files.ts';
import { checkWeights } from './policy-weights.ts';

/** Writes weights, config and tokenizer as a model folder. */
export type SaveWeights = (directory: string, weights: Weights) => Promise<unknown>;

/**
 * Saves weights with a model's config and tokenizer. Does not hold the model's weights, so they can be
 * collected.
 */
export function savingWith({ config, tokenizer }: LanguageModel): SaveWeights {
  return (directory, weights) => writeModelFiles(directory, { config, tokenizer, weights });
}

const modelFile = 'model.safetensors';

/** All weights of a model in the files of its folder, for checkpoints and publications. */
export class ModelFiles {
  readonly adaptation = 'full';
  /** Shapes of the weights. */
  readonly specs: readonly ParameterSpec[];
  readonly #save: SaveWeights;

  constructor(specs: readonly ParameterSpec[], save: SaveWeights) {
    this.specs = specs;
    this.#save = save;
  }

  check(owner: string, weights: Weights): void {
    checkWeights(owner, this.specs, weights);
  }

  async write(directory: string, weights: Weights): Promise<void> {
    await this.#save(directory, weights);
  }

  async readFiles(directory: string): Promise<Weights> {
    const path = join(directory, modelFile);
    const weights = await readSafetensors(path);
    this.check(`loadCheckpoint ${path}`, weights);
    return weights;
  }
}
