import { evaluate, toComplex } from './evaluate.ts';
import { constant, type Expression, renamed, variablesOf, writtenNumber } from './expression.ts';

const numeral = /^(\d{1,40})_(\d{1,2})$/;

/** A number in another base as its value, if the right answer is not in another base: `1011_2` for 11, but not 11 for `1011_2`. */
export function withoutBase(given: Expression, expected: Expression): Expression {
  const isWanted = [...variablesOf(expected)].some((name) => numeral.test(name));
  const [, digits, written] = given.type === 'symbol' && !isWanted ? (numeral.exec(given.name) ?? []) : [];
  const base = Number(written);
  if (digits === undefined || base < 2 || [...digits].some((digit) => Number(digit) >= base)) return given;
  let value = 0n;
  for (const digit of digits) value = value * BigInt(base) + BigInt(digit);
  return constant(value);
}

/** The constant of an integral may have another name: `x^2 + c` for `x^2 + C`. */
export function withConstantOf(given: Expression, expected: Expression): Expression {
  const [named, wanted] = [constantTerm(given), constantTerm(expected)];
  if (named === undefined || wanted === undefined || named === wanted) return given;
  const isOther = (name: string, side: Expression) => !variablesOf(side).has(name);
  return isOther(named, expected) && isOther(wanted, given) ? renamed(given, named, wanted) : given;
}

/** The letter c, C, k or K that is the last term of a sum. */
function constantTerm(sum: Expression): string | undefined {
  const last = sum.type === 'apply' && sum.name === 'add' ? sum.args[1]! : undefined;
  return last?.type === 'symbol' && /^[cCkK]$/.test(last.name) ? last.name : undefined;
}

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
