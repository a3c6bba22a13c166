import { ArgumentError } from '@rlp/core';

import { isFloating } from '../graph/data-type.ts';
import type { TapeEntry, Value } from '../graph/graph.ts';
import { formatShape, sameShape } from '../graph/shape.ts';
import { add } from '../ops/arithmetic.ts';
import { addOnto } from './add-onto.ts';

/** Values that depend on some value of `wrt` through the tape. */
function dependents(tape: readonly TapeEntry[], wrt: readonly Value[]): Set<Value> {
  const found = new Set(wrt);
  for (const { inputs, outputs } of tape) {
    if (!inputs.some((input) => input && found.has(input))) continue;
    for (const output of outputs) if (isFloating(output.type)) found.add(output);
  }
  return found;
}

function checkGradient(input: Value, gradient: Value): void {
  if (sameShape(input.shape, gradient.shape) && input.type === gradient.type) return;
  throw new ArgumentError(
    `gradients: a rule gave ${gradient.type} ${formatShape(gradient.shape)} as the gradient of "${input.name}", which is ` +
      `${input.type} ${formatShape(input.shape)}`,
  );
}

/**
 * Walks a tape backwards from the gradients in `seeds` and returns those of `wrt`. `undefined` means zero.
 *
 * @param totals - What gradients of inputs of the graph are added to.
 */
export function reverse(
  tape: readonly TapeEntry[],
  seeds: ReadonlyMap<Value, Value>,
  wrt: readonly Value[],
  totals: ReadonlyMap<Value, Value> = new Map(),
): (Value | undefined)[] {
  const relevant = dependents(tape, wrt);
  const accumulated = new Map(seeds);
  for (const entry of tape.toReversed()) {
    const gradients = entry.outputs.map((output) => accumulated.get(output));
    if (gradients.every((gradient) => gradient === undefined)) continue;
    const needs = entry.inputs.map((input) => input !== undefined && relevant.has(input));
    if (!needs.includes(true)) continue;
    const inputs = entry.inputs.map((input) => input?.graph.rebuilt(input));
    const found = entry.vjp({ ...entry, inputs, gradients, needs });
    for (const [index, input] of entry.inputs.entries()) {
      const gradient = found[index];
      if (!input || !needs[index] || !gradient) continue;
      checkGradient(input, gradient);
      const before = accumulated.get(input);
      const total = totals.get(input);
      const first = () => (total ? addOnto(total, gradient) : gradient);
      accumulated.set(input, before ? add(before, gradient) : first());
    }
  }
  return wrt.map((value) => accumulated.get(value));
}
