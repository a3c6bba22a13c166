import type { Graph } from '@rlp/onnx';
import { add, div, mul, sqrt, square, sub } from '@rlp/onnx/ops';
import { type EngineHost, Tensor } from '@rlp/onnx/runtime';
import { clipFactor, weightDecayOf } from '../optimizer/optimizer.ts';
import type { DeviceGradient } from './device-gradient.ts';
import type { OptimizerParts, ParameterOptimizer, UpdateStep } from './kernel-optimizer.ts';
import { SessionsByShape } from './sessions-by-shape.ts';

/**
 * Clipping and AdamW as graphs, for parameters on a device.
 *
 * Parameters, gradients and moments stay on the device. An update sends nine numbers. Parameters are updated
 * one at a time, so at most one is held twice.
 */
export class GraphOptimizer implements ParameterOptimizer {
  readonly #parts: OptimizerParts<DeviceGradient>;
  readonly #updates: SessionsByShape;

  constructor(host: EngineHost, parts: OptimizerParts<DeviceGradient>) {
    this.#parts = parts;
    this.#updates = new SessionsByShape(host, adamwGraph);
  }

  async update({ learningRate, update, options, maxGradientNorm }: UpdateStep): Promise<number> {
    const { store, gradient } = this.#parts;
    const { beta1, beta2, epsilon } = options;
    await gradient.settle();
    const norm = await gradient.norm();
    const scalars = {
      factor: scalar(clipFactor(norm, maxGradientNorm)),
      rate: scalar(learningRate / (1 - beta1 ** update)),
      root: scalar(1 / Math.sqrt(1 - beta2 ** update)),
      ...{ beta1: scalar(beta1), beta2: scalar(beta2), epsilon: scalar(epsilon) },
      ...{ gain1: scalar(1 - beta1), gain2: scalar(1 - beta2) },
    };
    for (const { name, shape } of store.parameters) {
      const next = await this.#updates.run(shape, {
        ...scalars,
        keep: scalar(1 - learningRate * weightDecayOf(options, shape)),
        value: store.tensor(name),
        gradient: store.tensor(name, 'gradient'),
        moment1: store.tensor(name, 'moment1'),
        moment2: store.tensor(name, 'moment2'),
      });
      store.replace(name, next['next:value']!);
      store.replace(name, next['next:moment1']!, 'moment1');
      store.replace(name, next['next:moment2']!, 'moment2');
    }
    gradient.clear();
    return norm;
  }

  release(): Promise<void> {
    return this.#updates.release();
  }
}

function scalar(value: number): Tensor {
  return new Tensor('float32', Float32Array.of(value), [1]);
}

function adamwGraph(graph: Graph, shape: readonly number[]): void {
  const input = (name: string) => graph.input(name, 'float32', shape);
  const number = (name: string) => graph.input(name, 'float32', [1]);
  const gradient = mul(input('gradient'), number('factor'));
  const moment1 = add(mul(input('moment1'), number('beta1')), mul(gradient, number('gain1')));
  const moment2 = add(mul(input('moment2'), number('beta2')), mul(square(gradient), number('gain2')));
  const denominator = add(mul(sqrt(moment2), number('root')), number('epsilon'));
  const step = div(mul(moment1, number('rate')), denominator);
  graph.output('next:value', sub(mul(input('value'), number('keep')), step));
  graph.output('next:moment1', moment1);
  graph.output('next:moment2', moment2);
}
