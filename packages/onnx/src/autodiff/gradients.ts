import { ArgumentError } from '@rlp/core';

import { isFloating } from '../graph/data-type.ts';
import type { Node, TapeEntry, Value } from '../graph/graph.ts';
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
  for (const value of [loss, ...wrt]) {
    if (value.graph !== graph) throw new ArgumentError(`gradients: "${value.name}" belongs to another graph`);
    if (!isFloating(value.type)) {
      throw new ArgumentError(`gradients: "${value.name}" is ${value.type} and carries no gradient`);
    }
  }
  const { tape } = graph;
  const firstNode = graph.nodes.length;
  const refused = derivedInputs(loss, tape);
  const { result } = graph.withTape(() => {
    const seeds = new Map([[loss, seed(loss, options.upstream)]]);
    const found = reverse(tape, seeds, [...wrt, ...refused]);
    refuseDerived(refused, found.splice(wrt.length));
    return found.map((gradient, index) => gradient ?? filled(graph, wrt[index]!.type, wrt[index]!.shape));
  });
  for (const node of graph.nodes.slice(firstNode)) derived.add(node);
  return result;
}

function seed(loss: Value, upstream: Value | undefined): Value {
  if (!upstream) {
    if (loss.shape.every((dimension) => dimension === 1)) return filled(loss.graph, loss.type, loss.shape, 1);
    throw new ArgumentError(
      `gradients: the loss must have one element, got ${formatShape(loss.shape)}; reduce it or give upstream`,
    );
  }
  if (sameShape(upstream.shape, loss.shape) && upstream.type === loss.type) return upstream;
  throw new ArgumentError(
    `gradients: upstream must be ${loss.type} ${formatShape(loss.shape)}, got ${upstream.type} ${formatShape(upstream.shape)}`,
  );
}

/** Values that an earlier call made and through which a gradient might have to flow. */
function derivedInputs(loss: Value, tape: readonly TapeEntry[]): Value[] {
  const values = [loss, ...tape.flatMap(({ inputs }) => inputs)];
  return values.filter((value) => value?.node && derived.has(value.node)) as Value[];
}

function refuseDerived(values: readonly Value[], gradients: readonly (Value | undefined)[]): void {
  const input = values.find((_, index) => gradients[index]);
  if (!input) return;
  throw new ArgumentError(
    `gradients: the loss depends on the gradient "${input.name}"; second derivatives are not supported, wrap it in stopGradient`,
  );
}
