import { Complex } from 'complex.js';
import { Fraction } from 'fraction.js';
import type { Apply, Expression } from './expression.ts';

/** The value of an expression: exact as far as rational arithmetic reaches, else a complex float. */
export type Value = Fraction | Complex;

/** Exact numbers of more bits become floats. Fractions are reduced after each step, which takes long. */
const maximumBits = { integer: 30_000, fraction: 1500 };
/** Most terms of a sum. */
const maximumTerms = 200;
const undefinedValue = new Complex(Number.NaN, 0);

/** Functions of one complex number. */
const functions: Readonly<Record<string, (z: Complex) => Complex>> = {
  ...Object.fromEntries(
    (['sqrt', 'sin', 'cos', 'sinh', 'cosh', 'tanh', 'exp'] as const).map((name) => [name, (z) => z[name]()]),
  ),
  // Those of complex.js lose half of their digits near poles.
  tan: (z) => z.sin().div(z.cos()),
  cot: (z) => z.cos().div(z.sin()),
  sec: (z) => z.cos().inverse(),
  csc: (z) => z.sin().inverse(),
  arcsin: (z) => z.asin(),
  arccos: (z) => z.acos(),
  arctan: (z) => z.atan(),
  ln: (z) => z.log(),
  cis: (z) => z.mul(new Complex(0, 1)).exp(),
  conj: (z) => z.conjugate(),
  degrees: (z) => z.mul(Math.PI / 180),
};

/** Names of the functions that an answer may have. */
export const functionNames: ReadonlySet<string> = new Set(
  Object.keys(functions).concat('abs', 'log', 'gcd', 'lcm', 'max', 'min'),
);

/** Operations on complex numbers. `last` is the second one as it was before it became a float. */
const operations: Readonly<Record<string, (a: Complex, b: Complex | undefined, last: Value) => Complex>> = {
  ...functions,
  negate: (a) => a.neg(),
  add: (a, b) => a.add(b!),
  multiply: (a, b) => a.mul(b!),
  call: (a, b) => a.mul(b!),
  divide: (a, b) => a.div(b!),
  power: (a, b, last) => power(a, b!, last),
  abs: (a) => new Complex(a.abs(), 0),
  floor: (a) => (a.im === 0 ? a.floor(0) : undefinedValue),
  ceil: (a) => (a.im === 0 ? a.ceil(0) : undefinedValue),
  log: (a, base = new Complex(10, 0)) => a.log().div(base.log()),
};

/** Operations on exact numbers. `undefined` where the result is not exact. */
const exactOperations: Readonly<
  Record<string, (a: Fraction, b: Fraction, all: readonly Fraction[]) => Fraction | undefined>
> = {
  negate: (a) => a.neg(),
  add: (a, b) => a.add(b),
  mixed: (a, b) => a.add(b),
  multiply: (a, b) => a.mul(b),
  call: (a, b) => a.mul(b),
  divide: (a, b) => (b.n === 0n ? undefined : a.div(b)),
  power: exactPower,
  abs: (a) => a.abs(),
  floor: (a) => a.floor(),
  ceil: (a) => a.ceil(),
  factorial: (a) => exactBinomial(a, undefined),
  binomial: exactBinomial,
  gcd: (_a, _b, all) => all.reduce((one, other) => one.gcd(other)),
  lcm: (_a, _b, all) => all.reduce((one, other) => one.lcm(other)),
  max: (_a, _b, all) => all.reduce((one, other) => (other.gt(one) ? other : one)),
  min: (_a, _b, all) => all.reduce((one, other) => (other.lt(one) ? other : one)),
};

const constants: ReadonlyMap<string, Complex> = new Map([
  ['e', new Complex(Math.E, 0)],
  ['i', new Complex(0, 1)],
  ['pi', new Complex(Math.PI, 0)],
]);

/** The complex float nearest to a value. */
export function toComplex(value: Value): Complex {
  if (!(value instanceof Fraction)) return value;
  const excess = BigInt(Math.max(0, bitsOf(value) - 1000));
  return new Complex(Number((value.s * value.n) >> excess) / Number(value.d >> excess), 0);
}

/**
 * The value of an expression at a point. Not a number (in a `Complex`) for what has no value: words, collections, a division by 0,
 * the factorial of a negative number.
 *
 * @param point - Values of the variables. A variable that is missing has no value.
 */
export function evaluate(expression: Expression, point: ReadonlyMap<string, Value>): Value {
  if (expression.type === 'number') return expression.value;
  if (expression.type === 'symbol') {
    return constants.get(expression.name) ?? point.get(expression.name) ?? undefinedValue;
  }
  if (expression.type !== 'apply') return undefinedValue;
  if (expression.name === 'sum' || expression.name === 'prod') return seriesOf(expression, point);
  return resultOf(
    expression.name,
    expression.args.map((arg) => evaluate(arg, point)),
  );
}

/** The sum or product of the terms between two bounds. Sums in sums would take long. */
function seriesOf({ name, args }: Apply, point: ReadonlyMap<string, Value>): Value {
  const [from, to] = args.slice(1).map((bound) => evaluate(bound, point));
  if (!(from instanceof Fraction && to instanceof Fraction) || from.d * to.d !== 1n) return undefinedValue;
  if (to.sub(from).gt(maximumTerms) || point.has('index')) return undefinedValue;
  let value: Value = new Fraction(name === 'sum' ? 0 : 1);
  for (let at = from; at.lte(to); at = at.add(1)) {
    const term = evaluate(args[0]!, new Map([...point, ['index', at]]));
    value = resultOf(name === 'sum' ? 'add' : 'multiply', [value, term]);
  }
  return value;
}

/** What an operation makes of values. */
export function resultOf(name: string, values: readonly Value[]): Value {
  if (values.some((value) => value instanceof Complex && value.isNaN())) return undefinedValue;
  const exact = values.every((value) => value instanceof Fraction)
    ? exactOperations[name]?.(values[0]!, values[1]!, values)
    : undefined;
  if (exact !== undefined && bitsOf(exact) <= maximumBits[exact.d === 1n ? 'integer' : 'fraction'])
    return exact;
  const [a, b] = values.map(toComplex) as [Complex, Complex?];
  const result = operations[name]?.(a, b, values.at(-1)!) ?? undefinedValue;
  // A negative zero would choose the other branch of a root.
  return Object.is(result.im, -0) ? new Complex(result.re, 0) : result;
}

/** Bits of the larger of numerator and denominator, to within four. */
export function bitsOf({ n, d }: Fraction): number {
  return 4 * (n > d ? n : d).toString(16).length;
}

function exactPower(base: Fraction, exponent: Fraction): Fraction | undefined {
  if (exponent.d !== 1n || (base.n === 0n && exponent.s <= 0n)) return;
  if (bitsOf(base) * Number(exponent.n) > maximumBits.integer && base.n !== base.d) return;
  return base.pow(exponent) as Fraction | undefined;
}

/** `n!` without a second number, else n over k. */
function exactBinomial(n: Fraction, k: Fraction | undefined): Fraction | undefined {
  if (n.d !== 1n || n.s < 0n || n.n > 2900n) return;
  if (k !== undefined && k.d !== 1n) return;
  if (k !== undefined && (k.s < 0n || k.n > n.n)) return new Fraction(0);
  let product = 1n;
  for (let factor = k === undefined ? 2n : n.n - k.n + 1n; factor <= n.n; factor++) product *= factor;
  return k === undefined ? new Fraction(product, 1n) : new Fraction(product, exactBinomial(k, undefined)!.n);
}

/** Whole powers of reals are real. An odd root of a negative number is negative, as schools have it: `(-8)^{1/3}` is −2. */
function power(base: Complex, exponent: Complex, written: Value): Complex {
  if (base.im === 0 && exponent.im === 0 && Number.isInteger(exponent.re))
    return new Complex(base.re ** exponent.re, 0);
  const isOddRoot = written instanceof Fraction && written.d > 1n && written.d % 2n === 1n;
  if (!isOddRoot || base.im !== 0 || base.re >= 0) return base.pow(exponent);
  const size = (-base.re) ** exponent.re;
  return new Complex(written.n % 2n === 1n ? -size : size, 0);
}
