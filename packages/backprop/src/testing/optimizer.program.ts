import type { CallContext, EngineHost } from '@rlp/onnx/runtime';
import type { Optimizer } from '../optimizer/options.ts';
import type { TrainedParameter } from '../optimizer/update-rule.ts';
import { GraphOptimizer } from '../program/graph-optimizer.ts';
import { copyIn, copyOut } from '../program/store-copies.ts';
import type { NamedTensor } from '../program-protocol.ts';

/** What the program updates. */
export interface OptimizerProgramOptions {
  /** Store with a slot `gradient`. */
  readonly store: string;
  readonly parameters: readonly TrainedParameter[];
  readonly optimizer: Optimizer;
}

/** Methods of the program. */
export type OptimizerMethods = ReturnType<typeof createOptimizerProgram>;

/** An optimizer without a model: its gradients are given. */
export default function createOptimizerProgram(
  host: EngineHost,
  { store: name, parameters, optimizer: options }: OptimizerProgramOptions,
) {
  const store = host.store(name);
  const optimizer = new GraphOptimizer(host, {
    store,
    parameters,
    state: `${name}/state`,
    optimizer: options,
  });
  return {
    /** Returns the parameters after the update. */
    async update(
      given: {
        readonly gradients: readonly NamedTensor[];
        readonly learningRate: number;
        readonly update: number;
      },
      call: CallContext,
    ) {
      await copyIn(store, 'gradient', given.gradients);
      const { learningRate, update } = given;
      await optimizer.update({ learningRate, update, options, factor: 1 });
      return copyOut(store, undefined, call);
    },
    save: (_: undefined, call: CallContext) => optimizer.save(call),
    restore: (tensors: readonly NamedTensor[]) => optimizer.restore(tensors),
    close: () => optimizer.release(),
  };
}
