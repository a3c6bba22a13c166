import { constant, type Expression, variablesOf } from './expression.ts';

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
