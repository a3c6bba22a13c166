import { ArgumentError, requireArguments } from '@rlp/core';
import { isFloating } from '../graph/data-type.ts';
import { expectValues } from '../graph/expect-values.ts';
import { defineOp, type TapeEntry, type Value } from '../graph/graph.ts';
import { add, mul } from '../ops/arithmetic.ts';
import { cast, isNan } from '../ops/comparison.ts';
import { gather } from '../ops/indexing.ts';
import { applyOne } from '../ops/operand.ts';
import { reshape, shapeOf } from '../ops/shape.ts';
import { enclose } from './enclose.ts';
import { reverse } from './reverse.ts';

const gateOp = defineOp({ type: 'Reshape' });

/** An int64 zero `[1]` that depends on `gradient`. */
function zeroAfter(gradient: Value): Value {
  const first = gather(reshape(gradient, [-1]), gradient.graph.constant([0], [1], 'int64'));
  return mul(cast(isNan(first), 'int64'), 0);
}

/** `x`, but only available after `zero`. It reshapes to the same shape, which copies nothing. */
function gate(x: Value, zero: Value): Value {
  return applyOne(gateOp, [x, add(shapeOf(x), zero)], {}, { type: x.type, shape: x.shape });
}

/** `x` again, only available after `gradient`. What is computed from it is neither merged with what was computed before nor run early. */
export function after(x: Value, gradient: Value): Value {
  return gate(x, zeroAfter(gradient));
}

/** Outside values that a tape reads. */
function captures(
  tape: readonly TapeEntry[],
  inside: ReadonlySet<unknown>,
  inputs: readonly Value[],
): Value[] {
  const found = new Set<Value>();
  for (const entry of tape) {
    for (const input of entry.inputs) {
      if (input && isFloating(input.type) && !inputs.includes(input) && !inside.has(input.node))
        found.add(input);
    }
  }
  return [...found];
}

/**
 * Activation checkpointing: recomputes intermediate results of `build(inputs)` in the backward pass.
 *
 * Only `inputs` stay in memory, and the forward part runs twice. Gradients also reach outside values that
 * `build` reads, such as weights. Those stay in memory too.
 *
 * The second computation depends on the incoming gradient. Therefore the runtime can neither merge it with
 * the first nor run it early.
 *
 * @param build - Called again during `gradients`. It must add the same nodes each time.
 */
export function recompute<const Outputs extends readonly Value[]>(
  inputs: readonly Value[],
  build: (inputs: readonly Value[]) => Outputs,
): Outputs {
  requireArguments('recompute', { inputs: 'list', build: 'function' }, inputs, build);
  expectValues('recompute', inputs);
  const [first] = inputs;
  if (!first) throw new ArgumentError('recompute: needs at least one input');
  const { graph } = first;
  const { outputs, tape, nodes } = enclose(graph, () => build(inputs));
  const captured = captures(tape, nodes, inputs);
  graph.record({
    inputs: [...inputs, ...captured],
    outputs,
    attributes: {},
    vjp: ({ gradients, needs }) => {
      const zero = zeroAfter(gradients.find((gradient) => gradient !== undefined)!);
      const gated = inputs.map((input) => gate(input, zero));
      const again = enclose(graph, () => build(gated));
      const seeds = again.outputs.flatMap((output, index) => {
        const gradient = gradients[index];
        return gradient ? [[output, gradient] as const] : [];
      });
      const wrt = [...gated, ...captured];
      const found = reverse(
        again.tape,
        new Map(seeds),
        wrt.filter((_, index) => needs[index]),
      );
      return wrt.map((_, index) => (needs[index] ? found.shift() : undefined));
    },
  });
  return outputs;
}
