import { mul } from '@rlp/onnx/ops';
import { type EngineHost, Tensor } from '@rlp/onnx/runtime';
import { clipFactor } from '../optimizer/optimizer.ts';
import type { Adamw } from '../optimizer/options.ts';
import { adamwRule } from '../optimizer/rules/adamw.ts';
import { ParameterGraphs } from './element-graphs.ts';
import type { FlatGradient } from './flat-gradient.ts';
import { adamwSlots, type OptimizerParts, SlotOptimizer, type UpdateStep } from './slot-optimizer.ts';

/** Clipping and AdamW on a device, in place: one graph for all matrices and one for all vectors. */
export class FlatOptimizer extends SlotOptimizer {
  readonly #parts: OptimizerParts<FlatGradient>;
  readonly #graphs: ParameterGraphs;

  constructor(host: EngineHost, parts: OptimizerParts<FlatGradient>) {
    super(parts.store);
    this.#parts = parts;
    this.#graphs = new ParameterGraphs(host);
  }

  async update({ learningRate, update, options, maxGradientNorm }: UpdateStep): Promise<number> {
    const { store, gradient } = this.#parts;
    await gradient.settle();
    const norm = await gradient.norm();
    const factor = clipFactor(norm, maxGradientNorm);
    const rule = adamwRule(options as Adamw);
    const [gradients, first, second] = ['gradient', ...adamwSlots].map((slot) => store.stretches!(slot));
    for (const [index, { tensor: value, parameters }] of store.stretches!().entries()) {
      // Weight decay depends on whether a parameter is a matrix, which all of a stretch are or none.
      const numbers = rule.numbers({ ...parameters[0]!, role: 'other' }, { learningRate, update });
      const tensors = { moment1: first![index]!.tensor, moment2: second![index]!.tensor };
      const scalars = Object.entries({ ...numbers, factor }).map(([name, number]) => [
        name,
        new Tensor('float32', Float32Array.of(number), [1]),
      ]);
      await this.#graphs.run(
        `${index} ${JSON.stringify(options)}`,
        { value, gradient: gradients![index]!.tensor, ...tensors, ...Object.fromEntries(scalars) },
        (inputs) => {
          const { value: before, gradient: given, moment1, moment2 } = inputs;
          const { value: next, state } = rule.build(
            { ...parameters[0]!, role: 'other' },
            {
              value: before!,
              gradient: mul(given!, inputs.factor!),
              state: { moment1: moment1!, moment2: moment2! },
              numbers: inputs,
            },
          );
          return { next, next1: state.moment1!, next2: state.moment2! };
        },
        { next: value, next1: tensors.moment1, next2: tensors.moment2 },
      );
    }
    store.touch();
    gradient.clear();
    return norm;
  }

  override async release(): Promise<void> {
    await this.#graphs.release();
  }
}
