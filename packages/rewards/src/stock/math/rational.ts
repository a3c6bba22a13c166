/** An exact number read from an answer, and how it was written. */
export interface WrittenNumber {
  readonly numerator: bigint;
  /** Positive. */
  readonly denominator: bigint;
  /** `1e3` and `8.0` are decimals, `1\frac{1}{2}` is mixed. */
  readonly notation: 'integer' | 'decimal' | 'fraction' | 'mixed';
  /** Whether numerator and denominator, as written, have a common divisor, or the denominator is 1. */
  readonly reducible: boolean;
}

/** Numbers with more digits, or larger powers of ten, are not read. */
const maximumDigits = 200;

const decimal = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;
const latexFraction = /^([+-]?)(\d*)\\frac\{([+-]?[\d.]+)\}\{([+-]?[\d.]+)\}$/;
const slashFraction = /^([+-]?)(?:(\d+) )?([\d.]+)\/([+-]?[\d.]+)$/;
const thousands = /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?$/;

interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/**
 * Reads an exact rational number: `-12`, `1,234.50`, `.5`, `1e3`, `3/4`, `1 3/4`, `\frac{3}{4}`, `1\frac{3}{4}`.
 * `undefined` for anything else, for a denominator of 0, and beyond 200 digits. Linear in the text.
 */
export function readRational(text: string): WrittenNumber | undefined {
  if (text.length > 2 * maximumDigits) return;
  const plain = thousands.test(text) ? text.replaceAll(',', '') : text;
  const whole = readDecimal(plain);
  if (whole !== undefined) {
    return { ...whole, notation: /[.eE]/.test(plain) ? 'decimal' : 'integer', reducible: false };
  }
  const match = latexFraction.exec(plain) ?? slashFraction.exec(plain);
  if (match === null) return;
  const [, sign, units, above, below] = match as unknown as [
    string,
    string,
    string | undefined,
    string,
    string,
  ];
  const numerator = readDecimal(above);
  const denominator = readDecimal(below);
  if (numerator === undefined || denominator === undefined || denominator.numerator === 0n) return;
  const share = positive({
    numerator: numerator.numerator * denominator.denominator,
    denominator: numerator.denominator * denominator.numerator,
  });
  const isMixed = units !== undefined && units !== '';
  if (isMixed && (share.numerator < 0n || share.numerator >= share.denominator)) return;
  const value = share.numerator + (isMixed ? BigInt(units) * share.denominator : 0n);
  return {
    numerator: sign === '-' ? -value : value,
    denominator: share.denominator,
    notation: isMixed ? 'mixed' : 'fraction',
    reducible: share.denominator === 1n || greatestCommonDivisor(share.numerator, share.denominator) !== 1n,
  };
}

/** Whether two numbers are the same, exactly. */
export function sameRational(a: Fraction, b: Fraction): boolean {
  return a.numerator * b.denominator === b.numerator * a.denominator;
}

/** The number as a float, rounded once at the end as far as floats reach. */
export function rationalToNumber({ numerator, denominator }: Fraction): number {
  const direct = Number(numerator) / Number(denominator);
  return Number.isFinite(direct) ? direct : Number(numerator / denominator);
}

function readDecimal(text: string): Fraction | undefined {
  const match = decimal.exec(text);
  if (match === null) return;
  const [, sign, whole = '', part = '', power = '0'] = match;
  const digits = whole + part;
  if (digits === '' || digits.length > maximumDigits || Math.abs(Number(power)) > maximumDigits) return;
  const exponent = Number(power) - part.length;
  const value = (sign === '-' ? -1n : 1n) * BigInt(digits);
  return exponent >= 0
    ? { numerator: value * 10n ** BigInt(exponent), denominator: 1n }
    : { numerator: value, denominator: 10n ** BigInt(-exponent) };
}

function positive({ numerator, denominator }: Fraction): Fraction {
  return denominator < 0n ? { numerator: -numerator, denominator: -denominator } : { numerator, denominator };
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}
