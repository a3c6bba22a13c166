import { evaluate, toComplex } from './evaluate.ts';
import {
  apply,
  constant,
  type Expression,
  type Quantity,
  renamed,
  variablesOf,
  writtenNumber,
} from './expression.ts';
import { sameValues } from './same-values.ts';

const numeral = /^([\dA-F]{1,40})_(\d{1,2})$/;

/** A number in another base as its value, if the right answer is not in another base: `1011_2` for 11, but not 11 for `1011_2`. */
export function withoutBase(given: Expression, expected: Expression): Expression {
  const isWanted = [...variablesOf(expected)].some((name) => numeral.test(name));
  const [, digits, written] = given.type === 'symbol' && !isWanted ? (numeral.exec(given.name) ?? []) : [];
  const base = Number(written);
  if (digits === undefined || base < 2 || [...digits].some((digit) => Number.parseInt(digit, 16) >= base))
    return given;
  let value = 0n;
  for (const digit of digits) value = value * BigInt(base) + BigInt(Number.parseInt(digit, 16));
  return constant(value);
}

/** `120k` as a number, if the right answer is one. */
export function withoutThousands(given: Expression, expected: Expression): Expression {
  const [number, letter] = given.type === 'apply' && given.name === 'multiply' ? given.args : [];
  const isScaled = letter?.type === 'symbol' && letter.name === 'k' && number!.type === 'number';
  return isScaled && writtenNumber(expected) !== undefined
    ? apply('multiply', number!, constant(1000))
    : given;
}

const constantName = /^[cCkKAB](?:_\d)?$/;

/**
 * An answer under the names that the right one has for constants of integrals: `x^2 + c` for `x^2 + C`, and `Ae^x + Be^{-x}` for
 * `C_1e^x + C_2e^{-x}`. Constants that an answer is a sum of may be in any order.
 */
export function underConstantsOf(given: Expression, expected: Expression): readonly Expression[] {
  const [own, right] = [variablesOf(given), variablesOf(expected)];
  const [mine, theirs] = [own, right].map((names) =>
    [...names].filter((name) => constantName.test(name)).sort(),
  );
  const named = mine!.filter((name) => !right.has(name));
  const wanted = theirs!.filter((name) => !own.has(name));
  const areOfIntegrals =
    [given, expected].every((side) => constantTerm(side) !== undefined) ||
    [own, right].every((names) => names.has('x') || names.has('t'));
  const isAny = [named, wanted].some((names) => names.every((name) => /^[cCkK]/.test(name)));
  if (named.length !== wanted.length || !areOfIntegrals || !isAny) return [given];
  const straight = named.reduce((rest, name, index) => renamed(rest, name, wanted[index]!), given);
  const areFree =
    mine!.length > 1 &&
    mine!.length <= 3 &&
    [mine!, theirs!].some((names) => names.every((name) => /^[cCkK]_\d$/.test(name))) &&
    [own, right].every((names) => names.size === mine!.length + 1) &&
    [given, expected].every((side) => degreeIn(side) <= 1);
  if (!areFree) return [straight];
  const apart = mine!.reduce((rest, name) => renamed(rest, name, `${name}:`), given);
  const orders = ordersOf(theirs!).map((names) =>
    mine!.reduce((rest, name, index) => renamed(rest, `${name}:`, names[index]!), apart),
  );
  return [straight, ...orders];
}

/** How many constants stand in one product. Infinite if one is in a function, a power or below a line. */
function degreeIn(side: Expression): number {
  if (side.type === 'symbol') return constantName.test(side.name) ? 1 : 0;
  if (side.type !== 'apply') return 0;
  const degrees = side.args.map(degreeIn);
  const most = Math.max(0, ...degrees);
  if (most === 0 || /^(?:add|negate)$/.test(side.name)) return most;
  const isProduct = /^(?:multiply|call)$/.test(side.name) || (side.name === 'divide' && degrees[1] === 0);
  return isProduct ? degrees.reduce((sum, degree) => sum + degree, 0) : Infinity;
}

/** Names in all their orders. */
const ordersOf = (names: readonly string[]): readonly (readonly string[])[] =>
  names.length < 2
    ? [names]
    : names.flatMap((name) =>
        ordersOf(names.filter((other) => other !== name)).map((rest) => [name, ...rest]),
      );

/** The constant that is the last term of a sum. */
function constantTerm(sum: Expression): string | undefined {
  const last = sum.type === 'apply' && sum.name === 'add' ? sum.args[1]! : undefined;
  return last?.type === 'symbol' && constantName.test(last.name) ? last.name : undefined;
}

/** Whether two antiderivatives with a constant, such as `\sin^2 x + C` and `-\cos^2 x + C`, are of one function. */
export function differByConstant(given: Expression, expected: Expression, seed: string): boolean {
  const [own = '', right] = [given, expected].map(constantTerm);
  if (own !== 'C' || own !== right || [given, expected].every(isPolynomial)) return false;
  const [name, ...others] = variablesOf(...[given, expected].map(withoutLast));
  if (name === undefined || others.length > 0) return false;
  const [from, to] = [given, expected]
    .map(withoutLast)
    .map((side) => apply('add', side, apply('negate', renamed(side, name, `${name}:`))));
  return sameValues(from!, to!, { seed });
}

/** Whether an expression has no functions. A constant in a polynomial is a slip: `x^2 + 3 + C`. */
const isPolynomial = (side: Expression): boolean =>
  side.type !== 'apply' ||
  (/^(?:add|negate|multiply|divide|power)$/.test(side.name) && side.args.every(isPolynomial));

const withoutLast = (sum: Expression) => (sum.type === 'apply' ? sum.args[0]! : sum);

/** Whether an answer such as `\sqrt{50} \approx 7.07` or `62/7 \approx 8.86 m` says a decimal, and rounds to it. */
export function roundsTo(given: Expression, expected: Expression): boolean {
  if (given.type !== 'relation' || given.operators.at(-1) !== 'approx') return false;
  const [exact, said] = given.sides.slice(-2) as [Expression, Expression];
  const [rounded, wanted] = [said, expected].map((side) => (side.type === 'quantity' ? side.value : side));
  if (said.type === 'quantity' && expected.type === 'quantity' && !areOfOneSize(said, expected)) return false;
  const [written, right] = [writtenNumber(rounded!), writtenNumber(wanted!)];
  if (written?.notation !== 'decimal' || right?.notation !== 'decimal' || !written.value.equals(right.value))
    return false;
  const isPercent = said.type === 'quantity' && said.unit === '%';
  const { re, im } = toComplex(evaluate(exact, new Map()));
  let place = 1;
  while (place < 1e9 && (BigInt(place) * right.value.n) % right.value.d !== 0n) place *= 10;
  return im === 0 && Math.abs((isPercent ? 100 : 1) * re - right.value.valueOf()) <= 0.5 / place;
}

const areOfOneSize = (one: Quantity, other: Quantity) =>
  one.unit === other.unit && one.scale.equals(other.scale);
