import { elementCount } from '@rlp/onnx';
import type { CallContext, ParameterStore } from '@rlp/onnx/runtime';
import { EightBitMoments, eightBitState, hasEightBitMoments } from '../optimizer/eight-bit.ts';
import { type OptimizerOf, weightDecayOf } from '../optimizer/options.ts';
import type { TrainedParameter } from '../optimizer/update-rule.ts';
import type { NamedTensor } from '../program-protocol.ts';
import type { ParameterOptimizer, UpdateStep } from './slot-optimizer.ts';

/** Moments of a parameter in float32. */
interface WholeMoments {
  readonly moment1: Float32Array<ArrayBuffer>;
  readonly moment2: Float32Array<ArrayBuffer>;
}

/** Clipping and AdamW with moments in 8 bits, in place, for parameters in host memory. */
export class EightBitOptimizer implements ParameterOptimizer {
  readonly #store: ParameterStore;
  readonly #parameters: readonly TrainedParameter[];
  readonly #moments: ReadonlyMap<string, EightBitMoments | WholeMoments>;

  constructor(store: ParameterStore, parameters: readonly TrainedParameter[]) {
    this.#store = store;
    this.#parameters = parameters;
    this.#moments = new Map(parameters.map((parameter) => [parameter.name, momentsOf(parameter)]));
  }

  async update({ learningRate, update, options, factor }: UpdateStep): Promise<void> {
    const store = this.#store;
    const { beta1, beta2, epsilon, ...decaying } = options as OptimizerOf<'adamw-8bit'>;
    for (const { name, shape } of this.#parameters) {
      const [value, slope] = [store.data(name), store.data(name, 'gradient')];
      const weightDecay = weightDecayOf(decaying, shape);
      const step = { learningRate, beta1, beta2, epsilon, weightDecay, update, gradientFactor: factor };
      const moments = this.#moments.get(name)!;
      if (moments instanceof EightBitMoments) moments.update(store.kernels, { value, gradient: slope }, step);
      else store.kernels.adamw({ value, gradient: slope, ...moments }, step);
    }
  }

  async save(call: CallContext): Promise<readonly NamedTensor[]> {
    const copies = this.#parameters.flatMap((parameter) => {
      const moments = this.#moments.get(parameter.name)!;
      const state: Readonly<Record<string, Float32Array<ArrayBuffer>>> =
        moments instanceof EightBitMoments
          ? moments.save()
          : { moment1: moments.moment1.slice(), moment2: moments.moment2.slice() };
      return Object.entries(eightBitState(parameter)).map(([name, shape]) => {
        return { name: `${name}.${parameter.name}`, shape, data: state[name]! };
      });
    });
    call.transfer(...copies.map(({ data }) => data.buffer));
    return copies;
  }

  async restore(tensors: readonly NamedTensor[]): Promise<void> {
    const saved = new Map(tensors.map(({ name, data }) => [name, data]));
    for (const parameter of this.#parameters) {
      const names = Object.keys(eightBitState(parameter));
      const state = Object.fromEntries(names.map((name) => [name, saved.get(`${name}.${parameter.name}`)!]));
      const moments = this.#moments.get(parameter.name)!;
      if (moments instanceof EightBitMoments) {
        moments.restore(state);
        continue;
      }
      moments.moment1.set(state.moment1!);
      moments.moment2.set(state.moment2!);
    }
  }

  async release(): Promise<void> {}
}

function momentsOf(parameter: TrainedParameter): EightBitMoments | WholeMoments {
  const length = elementCount(parameter.shape);
  if (hasEightBitMoments(parameter)) return new EightBitMoments(length);
  return { moment1: new Float32Array(length), moment2: new Float32Array(length) };
}
