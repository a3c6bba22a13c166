/** An exact fraction. The denominator is positive. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Value of an expression, and the numbers in it in order. */
export interface Evaluated {
  readonly value: Fraction;
  readonly numbers: readonly string[];
}

const maxDepth = 64;
const maxCharacters = 2000;

/**
 * Evaluates whole numbers with `+ - * /` and parentheses, exactly. Also takes `×`, `÷` and `−`. Returns a sentence for what is not such an
 * expression.
 */
export function evaluate(text: string): Evaluated | string {
  const source = text.replaceAll('×', '*').replaceAll('÷', '/').replaceAll('−', '-');
  if (source.length > maxCharacters) return `an expression has at most ${maxCharacters} characters`;
  const tokens = source.match(/\d+|\S/g) ?? [];
  const reader = new Reader(tokens);
  const value = reader.sum(0);
  if (typeof value === 'string') return value;
  if (reader.place < tokens.length) return `"${tokens[reader.place]}" is not expected there`;
  return { value, numbers: tokens.filter((token) => /\d/.test(token)) };
}

/** Text of a fraction: a whole number, or `3/4`. */
export function fractionText({ numerator, denominator }: Fraction): string {
  return denominator === 1n ? String(numerator) : `${numerator}/${denominator}`;
}

function reduced(numerator: bigint, denominator: bigint): Fraction {
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator < 0n ? -denominator : denominator];
  while (b !== 0n) [a, b] = [b, a % b];
  const divisor = (a === 0n ? 1n : a) * (denominator < 0n ? -1n : 1n);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

/** A sum, product or number at a time, from left to right. Each returns a sentence for what it cannot read. */
class Reader {
  readonly #tokens: readonly string[];
  place = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  sum(depth: number): Fraction | string {
    return this.#chain('+-', () => this.#chain('*/', () => this.#factor(depth)));
  }

  #chain(operators: string, next: () => Fraction | string): Fraction | string {
    let left = next();
    while (typeof left !== 'string' && operators.includes(this.#tokens[this.place] ?? ' ')) {
      const operator = this.#tokens[this.place++]!;
      const right = next();
      left = typeof right === 'string' ? right : combined(left, operator, right);
    }
    return left;
  }

  #factor(depth: number): Fraction | string {
    const token = this.#tokens[this.place++];
    if (token === undefined) return 'the expression ends too early';
    if (/\d/.test(token)) return { numerator: BigInt(token), denominator: 1n };
    if (depth === maxDepth) return 'the expression is nested too deeply';
    if (token === '-') {
      const value = this.#factor(depth + 1);
      return typeof value === 'string' ? value : { ...value, numerator: -value.numerator };
    }
    if (token !== '(') return `"${token}" is not a number`;
    const value = this.sum(depth + 1);
    if (typeof value === 'string') return value;
    return this.#tokens[this.place++] === ')' ? value : 'a ")" is missing';
  }
}

function combined(left: Fraction, operator: string, right: Fraction): Fraction | string {
  const { numerator: a, denominator: b } = left;
  const { numerator: c, denominator: d } = right;
  if (operator === '+') return reduced(a * d + c * b, b * d);
  if (operator === '-') return reduced(a * d - c * b, b * d);
  if (operator === '*') return reduced(a * c, b * d);
  return c === 0n ? 'it divides by zero' : reduced(a * d, b * c);
}
