import type { LinearLayer } from '@rlp/models/decoder';
import { Graph, serialize, type Value } from '@rlp/onnx';
import {
  add,
  div,
  gemm,
  identity,
  mul,
  sqrt,
  square,
  stopGradient,
  sub,
  sum,
  unsqueeze,
} from '@rlp/onnx/ops';
import type { ParameterSpec } from '@rlp/onnx/runtime';
import type { LoraPlan } from './lora-plan.ts';
import { type MergeGraphPlan, trainedOf } from './merge-plan.ts';

/**
 * Output of a linear layer with its correction, `y + scale · (x · Aᵀ) · Bᵀ`.
 *
 * @param x - `[N, inputs]`
 * @param y - `[N, outputs]`
 */
export function corrected(
  y: Value,
  x: Value,
  { down, up }: { down: Value; up: Value },
  scale: number,
): Value {
  const narrow = gemm(x, down, { transposeB: 'yes' });
  return add(y, gemm(mul(narrow, scale), up, { transposeB: 'yes' }));
}

/** What DoRA computes an output from, besides its correction. */
interface DoraValues {
  readonly down: Value;
  readonly up: Value;
  readonly magnitude: Value;
  readonly base: Value;
  readonly bias?: Value | undefined;
}

/**
 * Output of a layer of DoRA: `y` without its bias, in the lengths of the rows. As in PEFT no gradient flows through the norms.
 *
 * @param y - Output of the layer with its low-rank correction, `[N, outputs]`.
 */
export function relengthened(
  y: Value,
  { down, up, magnitude, base, bias }: DoraValues,
  order: LinearLayer['order'],
  scale: number,
): Value {
  const factors = rowFactors(stopGradient(mergedWeight(base, { down, up }, order, scale)), magnitude, order);
  return bias === undefined ? mul(y, factors) : add(mul(sub(y, bias), factors), bias);
}

/** `m / ‖V‖`, `[outputs]`. */
function rowFactors(weight: Value, magnitude: Value, order: LinearLayer['order']): Value {
  const axes = order === 'out-in' ? 1 : 0;
  return div(magnitude, sqrt(sum(square(weight), { axes })));
}

/**
 * Graph that computes the corrected weight of every target, `W + scale · B · A`, in the lengths of DoRA, and hands on modules that are
 * trained in full.
 */
export function mergePlan(
  { targets, modules, scale }: Pick<LoraPlan, 'targets' | 'modules' | 'scale'>,
  store: string,
): MergeGraphPlan {
  const graph = new Graph();
  for (const { name, shape } of modules) {
    graph.output(`merged:${name}`, identity(graph.input(name, 'float32', shape)));
  }
  for (const target of targets) {
    const { layer, down, up, magnitude } = target;
    const stored = layer.order === 'out-in' ? [layer.outputs, layer.inputs] : [layer.inputs, layer.outputs];
    const base = graph.input(layer.weight, 'float32', stored);
    const input = ({ name, shape }: ParameterSpec) => graph.input(name, 'float32', shape);
    const merged = mergedWeight(base, { down: input(down), up: input(up) }, layer.order, scale);
    const whole = magnitude === undefined ? merged : inLengths(merged, input(magnitude), layer.order);
    graph.output(`merged:${layer.weight}`, whole);
  }
  return {
    kind: 'graph',
    model: serialize(graph),
    store,
    parameters: [
      ...modules.map(({ name }) => name),
      ...targets.flatMap((target) => [target.layer.weight, ...trainedOf(target).map(({ name }) => name)]),
    ],
    merged: [...modules.map(({ name }) => name), ...targets.map(({ layer }) => layer.weight)],
  };
}

function inLengths(weight: Value, magnitude: Value, order: LinearLayer['order']): Value {
  const factors = rowFactors(weight, magnitude, order);
  return mul(weight, order === 'out-in' ? unsqueeze(factors, 1) : factors);
}

function mergedWeight(
  base: Value,
  { down, up }: { down: Value; up: Value },
  order: LinearLayer['order'],
  scale: number,
): Value {
  return order === 'out-in'
    ? gemm(up, down, { alpha: scale, bias: base })
    : gemm(down, up, { transposeA: 'yes', transposeB: 'yes', alpha: scale, bias: base });
}

/** Graph that corrects any one weight: inputs `base`, `down` and `up`, output `merged`. */
export function mergeGraph(order: LinearLayer['order'], scale: number): Uint8Array {
  const graph = new Graph();
  const stored = order === 'out-in' ? ['outputs', 'inputs'] : ['inputs', 'outputs'];
  const down = graph.input('down', 'float32', ['rank', 'inputs']);
  const up = graph.input('up', 'float32', ['outputs', 'rank']);
  const base = graph.input('base', 'float32', stored);
  graph.output('merged', mergedWeight(base, { down, up }, order, scale));
  return serialize(graph);
}
