import { ArgumentError, type PublicationForm, type Weights } from '@rlp/core';
import { type ModelConfig, readLoraAdapter, writeLoraAdapter } from '@rlp/models';
import type { Engine, ParameterSpec, RunningProgram } from '@rlp/onnx/runtime';
import { join } from '../node-files.ts';
import type { TrainingMethods } from '../train.program.ts';
import { factorsOf, type LoraPlan } from './lora-plan.ts';
import { trainedOf } from './merge-plan.ts';
import type { SaveWeights } from './model-files.ts';
import {
  checkedWeights,
  checkWeights,
  deleteStores,
  type PolicyWeights,
  type PublishedFiles,
  toTensors,
  toWeights,
} from './policy-weights.ts';
import { splitHead } from './value-head.ts';

const adapterFile = 'adapter_model.safetensors';

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
  readonly plan: Omit<LoraPlan, 'factors'>;
  /** Shape of the model. */
  readonly config: ModelConfig;
  /** Writes merged weights as a model folder. */
  readonly save: SaveWeights;
}

/**
 * Frozen weights with a low-rank correction, with the lengths of their rows in the case of DoRA, and with modules that are trained in
 * full.
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

  get isFixed(): boolean {
    const { base, variant } = this.#parts.plan;
    return base !== 'float32' || variant === 'dora';
  }

  /** Inference servers take no adapters of DoRA, and none with modules that were trained in full. */
  get publishes(): readonly PublicationForm[] {
    const { variant, modules } = this.#parts.plan;
    const isPlain = variant === 'lora' && modules.length === 0;
    return isPlain ? ['shared', 'adapter', 'checkpoint'] : ['shared', 'checkpoint'];
  }

  async load(weights: Weights): Promise<void> {
    const { base } = this.#parts.plan;
    if (base !== 'float32') {
      throw new ArgumentError(
        `loadWeights: this backend stores the frozen weights in ${base === 'int8' ? 8 : 4} bits (lora.base '${base}'), which would round the given ones; create a backend from a model with them`,
      );
    }
    if (this.#parts.plan.variant === 'dora') {
      throw new ArgumentError(
        "loadWeights: this backend trains the lengths of the frozen weights' rows (lora.variant 'dora'), which belong to the weights it was created with; create a backend from a model with the given ones",
      );
    }
    checkWeights('loadWeights', this.#parts.parameters, weights);
    const zero = this.#parts.plan.targets.map(({ up }) => up.name);
    await this.#parts.program.call('rebase', {
      tensors: toTensors(checkedWeights('loadWeights', weights)),
      zero,
    });
  }

  check(owner: string, parameters: Weights): void {
    const { targets, modules } = this.#parts.plan;
    checkWeights(owner, [...targets.flatMap(trainedOf), ...modules], parameters);
  }

  async write(directory: string, parameters: Weights): Promise<void> {
    const { targets, modules, base: _base, seed: _seed, scale: _scale, ...settings } = this.#parts.plan;
    const layers = targets.map(({ layer, down, up, magnitude }) => ({
      ...{ layer, down: parameters.get(down.name)!, up: parameters.get(up.name)! },
      ...(magnitude && { magnitude: parameters.get(magnitude.name)! }),
    }));
    const whole = new Map(modules.map(({ name }) => [name, parameters.get(name)!]));
    await writeLoraAdapter(directory, { ...settings, layers, modules: whole }, this.#parts.config);
  }

  async readFiles(directory: string): Promise<Weights> {
    const adapter = await readLoraAdapter(directory, this.#parts.config);
    const own = this.#parts.plan;
    // The factors do not contain their scale.
    if (adapter.rank !== own.rank || adapter.scale !== own.scale || adapter.variant !== own.variant) {
      throw new ArgumentError(
        `loadCheckpoint: ${directory} has rank ${adapter.rank} and alpha ${adapter.alpha}${kindOf(adapter)}, this backend ${own.rank} and ${own.alpha}${kindOf(own)}; create it with the same, or with ` +
          "`lora: { adapter: '…' }`, which reads them from the folder",
      );
    }
    const factors = factorsOf(adapter);
    this.check(`loadCheckpoint ${join(directory, adapterFile)}`, factors);
    return factors;
  }

  async published(as: 'adapter' | 'checkpoint'): Promise<PublishedFiles> {
    if (as === 'checkpoint') {
      const weights = await this.read();
      return async (directory) => {
        await this.#parts.save(directory, weights);
      };
    }
    const { parameters } = await this.#parts.program.call('save', undefined);
    const factors = toWeights(splitHead(parameters).policy);
    return (directory) => this.write(directory, factors);
  }

  dispose(): Promise<void> {
    return deleteStores(this.#parts.engine, this.#parts.stores);
  }
}

function kindOf({ scaling, variant }: Pick<LoraPlan, 'scaling' | 'variant'>): string {
  const kinds = [...(scaling === 'root-rank' ? ['rsLoRA'] : []), ...(variant === 'dora' ? ['DoRA'] : [])];
  return kinds.length === 0 ? '' : ` (${kinds.join(', ')})`;
}
