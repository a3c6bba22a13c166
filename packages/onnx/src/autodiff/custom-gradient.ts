import { ArgumentError, requireArguments } from '@rlp/core';
import { expectValues } from '../graph/expect-values.ts';

import type { Value } from '../graph/graph.ts';
import { enclose } from './enclose.ts';

/** Gradients of a {@link customGradient}'s inputs, in their order; `undefined` means zero. */
export type Backward = (
  gradients: readonly (Value | undefined)[],
  needs: readonly boolean[],
) => readonly (Value | undefined)[];

/**
 * Computes values with `forward` and differentiates them with `backward`.
 *
 * The nodes that `forward` adds are not differentiated.
 *
 * @param inputs - All values that gradients should reach.
 * @param forward - Builds the outputs. It can keep other values for `backward` in the enclosing scope.
 * @param backward - Builds the gradients of the inputs. It gets ∂loss/∂outputs (`undefined` if the loss does
 * not depend on an output) and which inputs need a gradient.
 */
export function customGradient<const Outputs extends readonly Value[]>(
  inputs: readonly Value[],
  forward: () => Outputs,
  backward: Backward,
): Outputs {
  requireArguments(
    'customGradient',
    { inputs: 'list', forward: 'function', backward: 'function' },
    inputs,
    forward,
    backward,
  );
  expectValues('customGradient', inputs);
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
