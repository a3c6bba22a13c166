import { importPeer, parseOptions, RandomStream } from '@rlp/core';
import * as z from 'zod';
import { type InfixExpression, readExpression } from './latex-expression.ts';
import type { MathEquivalence } from './math-equivalence.ts';

const schema = z.strictObject({
  /** Points at which both expressions must agree. Default 8. */
  points: z.int().min(2).max(64).default(8),
  /** Greatest difference, relative to the larger value. Default 1e-10. */
  tolerance: z.number().positive().max(1e-3).default(1e-10),
  /** Most characters of an expression. Default 400. */
  maximumLength: z.int().positive().max(2000).default(400),
  /** Deepest nesting of brackets. Default 24. */
  maximumDepth: z.int().positive().max(100).default(24),
  /** Most variables. Default 4. */
  maximumVariables: z.int().nonnegative().max(20).default(4),
});

/** Options of {@link symbolicEquivalence}. Nothing is equal beyond its limits. */
export interface SymbolicEquivalenceOptions extends z.input<typeof schema> {}

/** What mathjs makes of an expression: its value at a point. */
type Evaluate = (point: ReadonlyMap<string, number>) => unknown;

/**
 * Loads mathjs and makes a {@link MathEquivalence}: two expressions are equal if they agree as complex numbers at random
 * points, half of each variable's values negative. So `x^2+2x` is `x(x+2)`, `2\sqrt{3}` is `\sqrt{12}`, and `\sqrt{x^2}` is
 * not `x`. Two equations are equal if their differences of sides are, up to sign.
 *
 * What may be said wrongly: expressions that differ by less than `tolerance` everywhere are taken for equal. What is
 * undefined or infinite at a point does not count. If no point counts, nothing is equal.
 *
 * Safe on hostile text: only numbers, letters and the operators and functions of LaTeX answers are read, evaluation is in
 * floats (`10^{10^{10}}` is infinite at once), and its cost is bounded by `maximumLength · points`.
 *
 * @throws OptionsError for options outside their ranges; rejects with a `MissingPeerError` if mathjs is not installed.
 */
export async function symbolicEquivalence(
  options: SymbolicEquivalenceOptions = {},
): Promise<MathEquivalence> {
  const limits = parseOptions('symbolicEquivalence', schema, options);
  const { parse } = await importPeer('symbolicEquivalence', 'mathjs', () => import('mathjs'));
  const compile = ({ text }: InfixExpression): Evaluate => {
    const compiled = parse(text).compile();
    return (point) => compiled.evaluate(new Map(point));
  };
  const read = (source: string) => readSides(source, (side) => readExpression(side, limits));
  return (given, expected) => {
    const [a, b] = [read(given), read(expected)];
    if (a === undefined || b === undefined || a.isEquation !== b.isEquation) return false;
    const variables = new Set([...a.expression.variables, ...b.expression.variables]);
    if (variables.size > limits.maximumVariables) return false;
    const [first, second] = [compile(a.expression), compile(b.expression)];
    const signs = a.isEquation ? [1, -1] : [1];
    return signs.some((sign) => agreeEverywhere(first, second, { sign, variables, ...limits }));
  };
}

interface Sides {
  readonly isEquation: boolean;
  readonly expression: InfixExpression;
}

/** An equation `l = r` is read as `l − r`. */
function readSides(source: string, read: (side: string) => InfixExpression | undefined): Sides | undefined {
  const sides = source.split('=').map(read);
  const [left, right] = sides;
  if (left === undefined || sides.length > 2) return;
  if (sides.length === 1) return { isEquation: false, expression: left };
  if (right === undefined) return;
  const variables = new Set([...left.variables, ...right.variables]);
  return { isEquation: true, expression: { text: `${left.text}-${right.text}`, variables } };
}

function agreeEverywhere(
  first: Evaluate,
  second: Evaluate,
  {
    sign,
    variables,
    points,
    tolerance,
  }: {
    readonly sign: number;
    readonly variables: ReadonlySet<string>;
    readonly points: number;
    readonly tolerance: number;
  },
): boolean {
  let agreed = 0;
  for (let point = 0; point < (variables.size === 0 ? 1 : points); point++) {
    const place = new Map([...variables].map((name) => [name, coordinate(name, point)]));
    const [a, b] = [complexOf(first(place)), complexOf(second(place))];
    if (a === undefined || b === undefined) {
      if ((a === undefined) !== (b === undefined)) return false;
      continue;
    }
    const distance = Math.hypot(a.re - sign * b.re, a.im - sign * b.im);
    const size = Math.max(Math.hypot(a.re, a.im), Math.hypot(b.re, b.im));
    if (distance > tolerance * Math.max(size, Number.MIN_VALUE)) {
      if (!(distance < 1e-13 && size < 1e-13)) return false;
    }
    agreed += 1;
  }
  return agreed > 0;
}

/** Between 0.5 and 2.5 in size, negative at odd points; a function of its names alone. */
function coordinate(variable: string, point: number): number {
  const size = 0.5 + 2 * RandomStream.named('symbolicEquivalence', variable, point).at(0);
  return point % 2 === 0 ? size : -size;
}

/** A finite value as a complex number; `undefined` for infinities, NaN and anything else. */
function complexOf(value: unknown): { readonly re: number; readonly im: number } | undefined {
  const { re, im } =
    typeof value === 'number' ? { re: value, im: 0 } : ((value ?? {}) as { re?: unknown; im?: unknown });
  if (typeof re !== 'number' || typeof im !== 'number' || !Number.isFinite(re) || !Number.isFinite(im))
    return;
  return { re, im };
}
