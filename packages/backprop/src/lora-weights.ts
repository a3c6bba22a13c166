import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ArgumentError, type Weights } from '@rlp/core';
import { readSafetensors, writeSafetensors } from '@rlp/models';
import type { Engine, ParameterSpec, RunningProgram } from '@rlp/onnx/runtime';
import * as z from 'zod';
import type { LoraOptions } from './backend-options.ts';
import type { TrainingMethods } from './train.program.ts';
import { readRecord } from './weights/checkpoint.ts';
import { adapterConfig, fromPeft, type LoraTarget, toPeft } from './weights/lora.ts';
import { modelFile, type SaveWeights } from './weights/model-files.ts';
import {
  checkWeights,
  deleteStores,
  type PolicyWeights,
  type PublishedFiles,
  toTensors,
  toWeights,
} from './weights/policy-weights.ts';
import { splitHead } from './weights/value-head.ts';

const adapterFile = 'adapter_model.safetensors';
const configFile = 'adapter_config.json';

const configSchema = z.looseObject({ r: z.number().positive(), lora_alpha: z.number().positive() });

/** Parts of {@link LoraWeights}. */
export interface LoraWeightsParts {
  readonly engine: Engine;
  readonly program: RunningProgram<TrainingMethods>;
  /** All stores of the backend. They are freed with it. */
  readonly stores: readonly string[];
  /** All weights of the model. */
  readonly parameters: readonly ParameterSpec[];
  /** Row of the value head, if there is one. Trained together with the factors. */
  readonly valueHead?: ParameterSpec | undefined;
  readonly targets: readonly LoraTarget[];
  readonly options: LoraOptions;
  /** Writes merged weights as a model folder. */
  readonly save: SaveWeights;
}

/**
 * Frozen weights with a low-rank correction.
 *
 * Reading gives merged weights, `W + (alpha/rank)·B·A`, and publishing writes them to the shared store.
 * Loading weights replaces the frozen ones and resets the correction, including that of the reference policy.
 * A checkpoint holds only the adapter, in PEFT's files. It requires the model that the backend was created
 * with.
 */
export class LoraWeights implements PolicyWeights {
  readonly adaptation = 'lora';
  readonly #parts: LoraWeightsParts;

  constructor(parts: LoraWeightsParts) {
    this.#parts = parts;
  }

  get valueHead(): ParameterSpec | undefined {
    return this.#parts.valueHead;
  }

  async read(): Promise<Weights> {
    return toWeights(await this.#parts.program.call('readMerged', undefined));
  }

  async load(weights: Weights): Promise<void> {
    checkWeights('loadWeights', this.#parts.parameters, weights);
    const zero = this.#parts.targets.map(({ up }) => up.name);
    await this.#parts.program.call('rebase', { tensors: toTensors(weights), zero });
  }

  check(owner: string, parameters: Weights): void {
    const factors = this.#parts.targets.flatMap(({ down, up }) => [down, up]);
    checkWeights(owner, factors, parameters);
  }

  async write(directory: string, parameters: Weights): Promise<void> {
    await writeSafetensors(join(directory, adapterFile), toPeft(parameters));
    const config = adapterConfig(this.#parts.targets, this.#parts.options);
    await writeFile(join(directory, configFile), `${JSON.stringify(config, null, 2)}\n`);
  }

  async readFiles(directory: string): Promise<Weights> {
    await this.#checkScale(join(directory, configFile));
    const path = join(directory, adapterFile);
    const factors = fromPeft(await readSafetensors(path));
    this.check(`loadCheckpoint ${path}`, factors);
    return factors;
  }

  /** Compares rank and alpha of a checkpoint, because the factors do not contain their scale. */
  async #checkScale(path: string): Promise<void> {
    const { r: rank, lora_alpha: alpha } = await readRecord(path, configSchema);
    const own = this.#parts.options;
    if (rank === own.rank && alpha === own.alpha) return;
    throw new ArgumentError(
      `loadCheckpoint: ${path} has rank ${rank} and alpha ${alpha}, this backend ${own.rank} and ${own.alpha}; create it with the same`,
    );
  }

  async published(as: 'adapter' | 'checkpoint'): Promise<PublishedFiles> {
    if (as === 'checkpoint') {
      const weights = await this.read();
      return {
        marker: modelFile,
        write: async (directory) => {
          await this.#parts.save(directory, weights);
        },
      };
    }
    const { parameters } = await this.#parts.program.call('save', undefined);
    const factors = toWeights(splitHead(parameters).policy);
    return { marker: configFile, write: (directory) => this.write(directory, factors) };
  }

  dispose(): Promise<void> {
    return deleteStores(this.#parts.engine, this.#parts.stores);
  }
}
