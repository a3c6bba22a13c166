import { ArgumentError, requireArguments } from '@rlp/core';
import { isFloating } from '../graph/data-type.ts';
import { expectValues } from '../graph/expect-values.ts';
import type { Graph, Node, TapeEntry, Value } from '../graph/graph.ts';
import { formatShape, sameShape } from '../graph/shape.ts';
import { filled } from '../ops/shape.ts';
import { reverse } from './reverse.ts';

/** Options of {@link gradients}. */
export interface GradientsOptions {
  /** ∂objective/∂loss, with the shape of the loss. Default: 1, which requires a loss with a single element. */
  readonly upstream?: Value;
}

/** Nodes that `gradients` added. Differentiating them again would miss terms, so it is refused. */
const derived = new WeakSet<Node>();

/**
 * Reverse-mode derivatives ∂loss/∂v for each `v` of `wrt`, as new nodes of the same graph.
 *
 * Branches that no `v` feeds are not differentiated. If the loss does not depend on a `v`, its gradient is
 * zeros. `wrt` may contain intermediate values.
 *
 * @throws ArgumentError if the loss is not a floating-point scalar. Pass `upstream` for other shapes.
 * @throws ArgumentError if a `v` cannot carry a gradient.
 * @throws ArgumentError for second derivatives: the loss must not depend on an earlier result. Use
 * `stopGradient`.
 */
export function gradients(loss: Value, wrt: readonly Value[], options: GradientsOptions = {}): Value[] {
  requireArguments('gradients', { wrt: 'list', options: 'object' }, wrt, options);
  expectValues('gradients', { loss, ...wrt });
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
 * Continues known gradients: Σ over `upstream` of ∂L/∂u · ∂u/∂v for each `v` of `wrt`, as new nodes.
 *
 * Returns `undefined` if no `u` depends on `v`. {@link gradients} returns zeros instead.
 *
 * @param upstream - ∂L/∂u by u, with u's type and shape. All values belong to one graph.
 * @param totals - Values that gradients are added to, by v, which nothing computes. Each axis has v's size or 1 when the graph runs. A
 * matrix product starts from its total, so that adding takes no pass of its own. Default: none.
 * @throws ArgumentError as {@link gradients} does, and for the total of a computed value or of one in `upstream`.
 */
export function pullback(
  upstream: ReadonlyMap<Value, Value>,
  wrt: readonly Value[],
  totals: ReadonlyMap<Value, Value> = new Map(),
): (Value | undefined)[] {
  requireArguments('pullback', { wrt: 'list' }, wrt);
  if (!(upstream instanceof Map)) throw new ArgumentError('pullback: upstream must be a Map of gradients');
  if (!(totals instanceof Map)) throw new ArgumentError('pullback: totals must be a Map of values');
  expectValues('pullback', [
    ...upstream.keys(),
    ...upstream.values(),
    ...wrt,
    ...totals.keys(),
    ...totals.values(),
  ]);
  const [first] = upstream.keys();
  if (!first) return wrt.map(() => undefined);
  const { graph } = first;
  checkDifferentiable(graph, [...upstream.keys(), ...wrt, ...totals.values()]);
  for (const [value, gradient] of upstream) checkUpstream(value, gradient);
  for (const value of totals.keys()) {
    if (value.node === undefined && !upstream.has(value)) continue;
    throw new ArgumentError(
      `pullback: "${value.name}" is computed or in upstream and has no total; add to its gradient afterwards`,
    );
  }
  const { tape } = graph;
  const firstNode = graph.nodes.length;
  const refused = derivedInputs([...upstream.keys()], tape);
  const { result } = graph.withTape(() => reverse(tape, upstream, [...wrt, ...refused], totals));
  refuseDerived(refused, result.splice(wrt.length));
  for (const node of graph.nodes.slice(firstNode)) derived.add(node);
  return result;
}

function checkDifferentiable(graph: Graph, values: readonly Value[]): void {
  for (const value of values) {
    if (value.graph !== graph)
      throw new ArgumentError(`gradients: "${value.name}" belongs to another graph; use values of one graph`);
    if (!isFloating(value.type)) {
      throw new ArgumentError(
        `gradients: "${value.name}" is ${value.type} and carries no gradient; expected float32 or float64`,
      );
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

/** Values from an earlier call that a gradient might have to flow through. */
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
