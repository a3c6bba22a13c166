import { evaluate, toComplex } from './evaluate.ts';
import { type Expression, writtenNumber } from './expression.ts';

/** Whether an answer such as `\sqrt{50} \approx 7.07` says a decimal, and rounds to it. */
export function roundsTo(given: Expression, expected: Expression): boolean {
  if (given.type !== 'relation' || given.operators.at(-1) !== 'approx') return false;
  const [exact, rounded] = given.sides.slice(-2) as [Expression, Expression];
  const [written, right] = [writtenNumber(rounded), writtenNumber(expected)];
  if (written?.notation !== 'decimal' || right?.notation !== 'decimal' || !written.value.equals(right.value))
    return false;
  const { re, im } = toComplex(evaluate(exact, new Map()));
  let place = 1;
  while (place < 1e9 && (BigInt(place) * right.value.n) % right.value.d !== 0n) place *= 10;
  return im === 0 && Math.abs(re - right.value.valueOf()) <= 0.5 / place;
}
