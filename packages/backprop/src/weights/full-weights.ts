import type { Weights } from '@rlp/core';
import type { Engine, ParameterSpec, RunningProgram } from '@rlp/onnx/runtime';
import type { TrainingMethods } from '../train.program.ts';
import { ModelFiles, type SaveWeights } from './model-files.ts';
import {
  checkedWeights,
  deleteStores,
  type PolicyWeights,
  type PublishedFiles,
  toTensors,
  toWeights,
} from './policy-weights.ts';
import { splitHead } from './value-head.ts';

/** Parts of {@link FullWeights}. */
export interface FullWeightsParts {
  readonly engine: Engine;
  readonly program: RunningProgram<TrainingMethods>;
  readonly store: string;
  /** Parameters of the policy. */
  readonly parameters: readonly ParameterSpec[];
  /** Row of the value head, if there is one. */
  readonly valueHead?: ParameterSpec | undefined;
  readonly save: SaveWeights;
}

/** Full training: the published store is the trained store. */
export class FullWeights extends ModelFiles implements PolicyWeights {
  readonly isFixed = false;
  readonly publishes = ['shared', 'checkpoint'] as const;
  readonly valueHead: ParameterSpec | undefined;
  readonly #engine: Engine;
  readonly #program: RunningProgram<TrainingMethods>;
  readonly #store: string;

  constructor({ engine, program, store, parameters, valueHead, save }: FullWeightsParts) {
    super(parameters, save);
    this.valueHead = valueHead;
    this.#engine = engine;
    this.#program = program;
    this.#store = store;
  }

  async read(): Promise<Weights> {
    const tensors = await this.#program.call('readParameters', undefined);
    return toWeights(splitHead(tensors).policy);
  }

  async load(weights: Weights): Promise<void> {
    this.check('loadWeights', weights);
    await this.#program.call('writeParameters', toTensors(checkedWeights('loadWeights', weights)));
  }

  async published(): Promise<PublishedFiles> {
    const weights = await this.read();
    return (directory) => this.write(directory, weights);
  }

  dispose(): Promise<void> {
    return deleteStores(this.#engine, [this.#store]);
  }
}
