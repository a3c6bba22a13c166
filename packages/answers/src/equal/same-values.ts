import { RandomStream } from '@rlp/core';
import { Complex } from 'complex.js';
import { Fraction } from 'fraction.js';
import { bitsOf, evaluate, resultOf, toComplex, type Value } from './evaluate.ts';
import {
  type Apply,
  apply,
  constant,
  type Expression,
  hasSymbol,
  partsOf,
  variablesOf,
  writtenNumber,
} from './expression.ts';

/** Points at which two expressions must agree: all combinations of signs of three variables. */
const pointCount = 8;
/** For each variable, the bits of a point's index whose parity is its sign; any two are independent. */
const signBits = [1, 2, 4, 7, 3, 5, 6];
const maximumVariables = 12;
const tolerance = 1e-11;
/** Rational numbers with a larger product of numerator and denominator are not taken for a number that is not rational. */
const maximumHeight = 1_000_000_000n;

/** How the values of two expressions are related: equal, or in one proportion that is positive or not 0. */
export type Sameness = 'equal' | 'proportional' | 'positively proportional';

/**
 * Whether two expressions have the same value wherever both have one: random points, drawn from `seed` and the names of the variables.
 *
 * Sums, products, quotients and whole powers of rational numbers are computed exactly, so `x + 10^{-12}` is not `x`. Everything
 * else is computed in complex floats to 11 digits, half of each variable's values negative, so `\sqrt{x^2}` is not `x`. Long
 * decimals and fractions are never taken for roots, logarithms or π.
 * Variables of factorials and binomials are whole numbers.
 */
export function sameValues(
  ownForm: Expression,
  rightForm: Expression,
  { seed, sameness = 'equal' }: { readonly seed: string; readonly sameness?: Sameness },
): boolean {
  const [given, expected] = areOfFunctions(ownForm, rightForm)
    ? [withFunctions(ownForm), withFunctions(rightForm)]
    : [ownForm, rightForm];
  const variables = [...variablesOf(given, expected)].sort();
  // Infinity is a variable that does not cancel.
  if (variables.length > maximumVariables || hasSymbol(given, 'infty') !== hasSymbol(expected, 'infty'))
    return false;
  const streams = variables.map((name) => RandomStream.named(seed, 'answer', name));
  const isRounded = [given, expected].some(rounds);
  const at = (domain: Domain) => (index: number) =>
    new Map(
      streams.map((stream, k) => [
        variables[k]!,
        coordinate(stream, index, {
          domain: isRounded && !/^[i-n]/.test(variables[k]!) ? 'rational' : domain,
          bits: signBits[k % 7]!,
        }),
      ]),
    );
  const isReal = variables.length > 0 && !hasSymbol(given, 'i') && !hasSymbol(expected, 'i');
  const whole = wholeDomain(given, expected);
  // Half of the whole numbers hide that one expression rounds their half.
  const count = variables.length === 0 ? 1 : isRounded ? 4 * pointCount : pointCount;
  const compared = (domain: Domain, compare: Comparison, values: Trial['values']) =>
    compareAt(given, expected, { pointAt: at(whole ?? domain), count, compare, values });
  const exactly = compared('integer', comparison(sameness), 'exact');
  if (exactly !== undefined) return exactly;
  if (!areComparable(given, expected)) return false;
  const ofReals = isReal ? compared('real', whereReal(comparison(sameness)), 'any') : undefined;
  return (ofReals ?? compared('real', comparison(sameness), 'any')) === true;
}

const isFunction = (part: Expression) =>
  part.type === 'apply' &&
  part.name === 'call' &&
  [...variablesOf(part.args[0]!)].some((name) => /^[fgh]'*$/.test(name));

/** Whether both have values of functions, so that `f(2x)` is not a product. */
const areOfFunctions = (...sides: readonly Expression[]) =>
  sides.every((side) => partsOf(side).some(isFunction));

/** An expression with something that is not linear for each value of a function. */
function withFunctions(expression: Expression): Expression {
  if (expression.type !== 'apply') return expression;
  const args = expression.args.map(withFunctions);
  if (!isFunction(expression)) return { ...expression, args };
  return apply('multiply', args[0]!, apply('power', apply('add', args[1]!, constant(1)), constant(3)));
}

interface Trial {
  readonly pointAt: (index: number) => ReadonlyMap<string, Value>;
  readonly count: number;
  readonly compare: Comparison;
  readonly values: 'exact' | 'any';
}

/** Compares at points; `undefined` if nowhere both have a value, or if a value is not exact though it must be. */
function compareAt(
  given: Expression,
  expected: Expression,
  { pointAt, count, compare, values }: Trial,
): boolean | undefined {
  let [agreed, large] = [0, 0];
  const areAllLarge = () => large > 0 && agreed === large;
  // Where values are large, a difference of 1 does not show.
  for (let index = 0; index < (areAllLarge() ? 8 : 2) * count && (agreed < count || areAllLarge()); index++) {
    const point = pointAt(index);
    const [a, b] = [evaluate(given, point), evaluate(expected, point)];
    if ([a, b].some((value) => !(value instanceof Fraction) && Number.isNaN(value.re))) continue;
    if (values === 'exact' && !(a instanceof Fraction && b instanceof Fraction)) return;
    const verdict = compare(a, b);
    if (verdict === false) return false;
    if (verdict !== true) continue;
    agreed += 1;
    if (!(a instanceof Fraction) && toComplex(a).abs() > 1e10) large += 1;
  }
  return agreed > 0 ? true : undefined;
}

/** True, false, or `undefined` where a value is missing. */
type Comparison = (a: Value, b: Value) => boolean | undefined;

function comparison(sameness: Sameness): Comparison {
  return sameness === 'equal' ? equal : proportion(sameness);
}

/** Leaves out the points at which neither value is real, if there are others: `\ln x^3` is `3 \ln x`, though not for negative `x`. */
function whereReal(compare: Comparison): Comparison {
  return (a, b) => {
    const isReal = [a, b].some((value) => {
      const { re, im } = toComplex(value);
      return Math.abs(im) <= tolerance * Math.abs(re) || Number.isNaN(re);
    });
    return isReal ? compare(a, b) : undefined;
  };
}

function equal(a: Value, b: Value): boolean | undefined {
  if (a instanceof Fraction && b instanceof Fraction) return a.equals(b);
  const [{ re, im }, other] = [toComplex(a), toComplex(b)];
  const size = Math.max(Math.hypot(re, im), Math.hypot(other.re, other.im));
  if (!Number.isFinite(size)) {
    const isOneFinite = Number.isFinite(re + im) || Number.isFinite(other.re + other.im);
    return isOneFinite ? false : undefined;
  }
  const error = Math.hypot(re - other.re, im - other.im);
  if (error <= tolerance * size || size < 1e-13) return true;
  // What is left of a difference of nearly equal values has few digits.
  return error < 1e-13 && size < 0.01 ? undefined : false;
}

/** Holds the first proportion and compares the others with it. */
function proportion(sameness: Sameness): Comparison {
  let first: readonly [Value, Value] | undefined;
  const times = (a: Value, b: Value): Value =>
    a instanceof Fraction && b instanceof Fraction ? a.mul(b) : toComplex(a).mul(toComplex(b));
  return (a, b) => {
    const [x, y] = [toComplex(a), toComplex(b)];
    if (!(x.abs() > 0 && y.abs() > 0)) return x.abs() === 0 && y.abs() === 0 ? undefined : false;
    if (sameness === 'positively proportional' && !(x.div(y).re > 0)) return false;
    first ??= [a, b];
    return equal(times(a, first[1]), times(b, first[0]));
  };
}

/** Integers of up to 40 bits; the same over a prime; whole numbers from 5 to 404, or to 44 for bounds; or reals between 0.5 and 2.5 in size. Half of them are negative. */
type Domain = 'integer' | 'rational' | 'whole' | 'bound' | 'real';

function coordinate(
  stream: RandomStream,
  index: number,
  { domain, bits }: { readonly domain: Domain; readonly bits: number },
): Value {
  const share = stream.at(index);
  if (domain === 'whole' || domain === 'bound')
    return new Fraction(5 + Math.floor((domain === 'whole' ? 400 : 40) * share));
  const sign = [1, 2, 4].filter((bit) => index & bits & bit).length % 2 === 0 ? 1 : -1;
  if (domain === 'real') return new Complex(sign * (0.5 + 2 * share), 0);
  return new Fraction(sign * Math.floor(share * 2 ** 40), domain === 'rational' ? 999_983 : 1);
}

/** Whether a whole number would hide that an expression rounds. */
function rounds(expression: Expression): boolean {
  return partsOf(expression).some((part) => part.type === 'apply' && /^(?:floor|ceil)$/.test(part.name));
}

/** The domain of variables in bounds of sums, in factorials, binomials and exponents of −1. */
function wholeDomain(...sides: readonly Expression[]): 'whole' | 'bound' | undefined {
  const counting = sides.flatMap((side) =>
    partsOf(side).filter((part): part is Apply => part.type === 'apply' && variablesOf(part).size > 0),
  );
  if (counting.some(({ name }) => /^(?:sum|prod)$/.test(name))) return 'bound';
  const isWhole = (part: Apply) => /^(?:factorial|binomial)$/.test(part.name) || isNegativePower(part);
  return counting.some(isWhole) ? 'whole' : undefined;
}

function isNegativePower({ name, args: [base] }: Apply): boolean {
  return name === 'power' && base !== undefined && (writtenNumber(base)?.value.s ?? 0n) < 0n;
}

/** Long numbers must be in both expressions, so that no decimals pass for a root. */
function areComparable(given: Expression, expected: Expression): boolean {
  const [a, b] = [longNumbers(given), longNumbers(expected)];
  return a.size === b.size && [...a].every((number) => b.has(number));
}

/** The largest exact parts of an expression that take many digits. */
function longNumbers(expression: Expression): ReadonlySet<string> {
  const parts: Value[] = [];
  parts.push(visitValues(expression, (part) => parts.push(part)));
  const exact = parts.filter((part) => part instanceof Fraction);
  const long = exact.filter((part) => bitsOf(part) > 80 || part.n * part.d > maximumHeight);
  return new Set(long.map((part) => part.abs().toFraction()));
}

/** Returns the value of an expression, and visits what its inexact parts are made of. */
function visitValues(expression: Expression, visit: (part: Value) => void): Value {
  if (expression.type !== 'apply') return evaluate(expression, new Map());
  const values = expression.args.map((arg) => visitValues(arg, visit));
  const value = resultOf(expression.name, values);
  if (!(value instanceof Fraction)) for (const part of values) visit(part);
  return value;
}
