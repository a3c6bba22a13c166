import { ArgumentError } from '@rlp/core';

import { isFloating } from '../graph/data-type.ts';
import type { Graph, Node, TapeEntry, Value } from '../graph/graph.ts';
import { formatShape, sameShape } from '../graph/shape.ts';
import { filled } from '../ops/shape.ts';
import { reverse } from './reverse.ts';

/** Options of {@link gradients}. */
export interface GradientsOptions {
  /** ∂objective/∂loss, of the loss's shape. Default: 1, for which the loss must have a single element. */
  readonly upstream?: Value;
}

/** Nodes that `gradients` made: differentiating them again would silently miss terms, so it is refused. */
const derived = new WeakSet<Node>();

/**
 * Reverse-mode derivatives: ∂loss/∂v for each `v` of `wrt`, as new nodes of the same graph. Branches that no `v` feeds are
 * not differentiated; a `v` that the loss does not depend on gets zeros. `wrt` may name intermediate values.
 *
 * @throws ArgumentError if the loss is not a floating-point scalar (give `upstream` for other shapes), if a `v` cannot
 * carry a gradient, or if the loss depends on what an earlier call returned (second derivatives are not supported; use
 * `stopGradient`).
 */
export function gradients(loss: Value, wrt: readonly Value[], options: GradientsOptions = {}): Value[] {
  const { graph } = loss;
  checkDifferentiable(graph, [loss, ...wrt]);
  const firstNode = graph.nodes.length;
  const { result } = graph.withTape(() => seed(loss, options.upstream));
  const found = pullback(new Map([[loss, result]]), wrt);
  const filling = () => found.map((gradient, i) => gradient ?? filled(graph, wrt[i]!.type, wrt[i]!.shape));
  const complete = graph.withTape(filling).result;
  for (const node of graph.nodes.slice(firstNode)) derived.add(node);
  return complete;
}

/**
 * Gradients where those of some values are known: Σ over `upstream` of ∂L/∂u · ∂u/∂v for each `v` of `wrt`, as new nodes.
 * `undefined` where no `u` depends on `v`, which {@link gradients} fills with zeros.
 *
 * @param upstream - ∂L/∂u by u, of u's type and shape; values of one graph.
 * @throws ArgumentError as {@link gradients} does.
 */
export function pullback(upstream: ReadonlyMap<Value, Value>, wrt: readonly Value[]): (Value | undefined)[] {
  const [first] = upstream.keys();
  if (!first) return wrt.map(() => undefined);
  const { graph } = first;
  checkDifferentiable(graph, [...upstream.keys(), ...wrt]);
  for (const [value, gradient] of upstream) checkUpstream(value, gradient);
  const { tape } = graph;
  const firstNode = graph.nodes.length;
  const refused = derivedInputs([...upstream.keys()], tape);
  const { result } = graph.withTape(() => reverse(tape, upstream, [...wrt, ...refused]));
  refuseDerived(refused, result.splice(wrt.length));
  for (const node of graph.nodes.slice(firstNode)) derived.add(node);
  return result;
}

function checkDifferentiable(graph: Graph, values: readonly Value[]): void {
  for (const value of values) {
    if (value.graph !== graph) throw new ArgumentError(`gradients: "${value.name}" belongs to another graph`);
    if (!isFloating(value.type)) {
      throw new ArgumentError(`gradients: "${value.name}" is ${value.type} and carries no gradient`);
    }
  }
}

function seed(loss: Value, upstream: Value | undefined): Value {
  if (!upstream) {
    if (loss.shape.every((dimension) => dimension === 1)) return filled(loss.graph, loss.type, loss.shape, 1);
    throw new ArgumentError(
      `gradients: the loss must have one element, got ${formatShape(loss.shape)}; reduce it or give upstream`,
    );
  }
  return upstream;
}

function checkUpstream({ type, shape }: Value, upstream: Value): void {
  if (sameShape(upstream.shape, shape) && upstream.type === type) return;
  throw new ArgumentError(
    `gradients: upstream must be ${type} ${formatShape(shape)}, got ${upstream.type} ${formatShape(upstream.shape)}`,
  );
}

/** Values that an earlier call made and through which a gradient might have to flow. */
function derivedInputs(outputs: readonly Value[], tape: readonly TapeEntry[]): Value[] {
  const values = [...outputs, ...tape.flatMap(({ inputs }) => inputs)];
  return values.filter((value) => value?.node && derived.has(value.node)) as Value[];
}

function refuseDerived(values: readonly Value[], gradients: readonly (Value | undefined)[]): void {
  const input = values.find((_, index) => gradients[index]);
  if (!input) return;
  throw new ArgumentError(
    `gradients: the loss depends on the gradient "${input.name}"; second derivatives are not supported, wrap it in stopGradient`,
  );
}
