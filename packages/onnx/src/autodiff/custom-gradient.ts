import { ArgumentError } from '@rlp/core';

import type { Value } from '../graph/graph.ts';
import { enclose } from './enclose.ts';

/** Gradients of a {@link customGradient}'s inputs, in their order; `undefined` means zero. */
export type Backward = (
  gradients: readonly (Value | undefined)[],
  needs: readonly boolean[],
) => readonly (Value | undefined)[];

/**
 * Values computed by `forward`, differentiated by `backward` instead of through the nodes that `forward` makes.
 *
 * @param inputs - Everything that gradients should reach.
 * @param forward - Builds the outputs. What else it makes may be kept for `backward` in the enclosing scope.
 * @param backward - Given ∂loss/∂outputs (`undefined` where the loss does not depend on one) and which inputs need a
 * gradient.
 */
export function customGradient<const Outputs extends readonly Value[]>(
  inputs: readonly Value[],
  forward: () => Outputs,
  backward: Backward,
): Outputs {
  const [first] = inputs;
  if (!first) throw new ArgumentError('customGradient: needs at least one input');
  const { outputs } = enclose(first.graph, forward);
  first.graph.record({
    inputs,
    outputs,
    attributes: {},
    vjp: ({ gradients, needs }) => backward(gradients, needs),
  });
  return outputs;
}
