import { Fraction } from 'fraction.js';

/** What an answer is, as a tree. */
export type Expression =
  | { readonly type: 'number'; readonly value: Fraction; readonly notation: 'integer' | 'decimal' }
  /** A variable or a constant; `\infty` and `\emptyset` are symbols too. */
  | { readonly type: 'symbol'; readonly name: string }
  /** An operation or a function of the table in `evaluate.ts`. `call` is `f(x)`, or a product written as one: `x(x+1)`. */
  | { readonly type: 'apply'; readonly name: string; readonly args: readonly Expression[] }
  /** A value in units: how many of its base units one of the unit is, and the name of these, as `unitOf` has them. */
  | {
      readonly type: 'quantity';
      readonly value: Expression;
      readonly unit: string;
      readonly scale: Fraction;
    }
  | {
      readonly type: 'collection';
      /** `list`, `all` (joined by "and"), `either` (joined by "or"), `set`, `image` (`\{2k : k \in \mathbb{Z}\}`), `union`, `cases` (values and conditions in turn), `matrix 2,2`, or the brackets of a tuple or interval. */
      readonly kind: string;
      readonly parts: readonly Expression[];
    }
  | {
      readonly type: 'relation';
      readonly operators: readonly string[];
      readonly sides: readonly Expression[];
    }
  /** Words, lower-case. */
  | { readonly type: 'words'; readonly text: string };

export type Apply = Extract<Expression, { type: 'apply' }>;
export type Relation = Extract<Expression, { type: 'relation' }>;
export type Collection = Extract<Expression, { type: 'collection' }>;
export type Quantity = Extract<Expression, { type: 'quantity' }>;

/** Whether two expressions mean the same. */
export type Agree = (given: Expression, expected: Expression) => boolean;

/** An operation or function of arguments. */
export function apply(name: string, ...args: readonly Expression[]): Expression {
  return { type: 'apply', name, args };
}

/** Several parts, or the only one. */
export function collection(kind: string, parts: readonly Expression[]): Collection {
  return { type: 'collection', kind, parts };
}

/** A number that is not written in the answer. */
export function constant(value: number | bigint | Fraction): Expression {
  return { type: 'number', value: new Fraction(value), notation: 'integer' };
}

/** A name without a value. */
export function symbol(name: string): Expression {
  return { type: 'symbol', name };
}

/** The operations of an expression and what they hold, itself first. */
export function partsOf(expression: Expression): readonly Expression[] {
  const parts = [expression];
  for (const part of parts) if (part.type === 'apply') parts.push(...part.args);
  return parts;
}

/** Whether an expression has a variable or constant. */
export const hasSymbol = (expression: Expression, name: string) =>
  partsOf(expression).some((part) => part.type === 'symbol' && part.name === name);

/** An expression with another name, or an expression, for one of its variables. */
export function renamed(expression: Expression, from: string, to: string | Expression): Expression {
  const again = (part: Expression) => renamed(part, from, to);
  switch (expression.type) {
    case 'symbol':
      if (expression.name !== from) return expression;
      return typeof to === 'string' ? symbol(to) : to;
    case 'apply':
      return { ...expression, args: expression.args.map(again) };
    case 'collection':
      return { ...expression, parts: expression.parts.map(again) };
    case 'relation':
      return { ...expression, sides: expression.sides.map(again) };
    case 'quantity':
      return { ...expression, value: again(expression.value) };
    default:
      return expression;
  }
}

/** Names that are not variables, and the letter of a sum. */
const constants = new Set(['e', 'i', 'pi', 'index']);

/** Names of the variables of expressions. */
export function variablesOf(...expressions: readonly Expression[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const expression of expressions) {
    for (const part of partsOf(expression)) {
      if (part.type === 'symbol' && !constants.has(part.name)) names.add(part.name);
    }
  }
  return names;
}

/** A number as it is written: an integer, a decimal, a fraction of integers, or a mixed number. */
export interface WrittenNumber {
  readonly value: Fraction;
  readonly notation: 'integer' | 'decimal' | 'fraction' | 'mixed';
  /** Whether numerator and denominator have a common divisor, or the denominator is 1. */
  readonly isReducible: boolean;
}

/** The number that an expression writes out; `undefined` for anything that is still to be computed. */
export function writtenNumber(expression: Expression): WrittenNumber | undefined {
  if (expression.type === 'number') return { ...expression, isReducible: false };
  if (expression.type !== 'apply') return;
  const [first, second] = expression.args.map(writtenNumber);
  if (first === undefined) return;
  if (expression.name === 'negate') return { ...first, value: first.value.neg() };
  if (second === undefined) return;
  if (expression.name === 'mixed') {
    return { value: first.value.add(second.value), notation: 'mixed', isReducible: second.isReducible };
  }
  if (expression.name !== 'divide' || second.value.n === 0n) return;
  if (![first, second].every(({ notation }) => notation === 'integer' || notation === 'decimal')) return;
  const value = first.value.div(second.value);
  return { value, notation: 'fraction', isReducible: value.d !== second.value.n || value.d === 1n };
}
