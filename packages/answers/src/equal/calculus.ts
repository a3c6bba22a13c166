import { apply, constant, type Expression, partsOf, renamed, symbol } from './expression.ts';
import { Unreadable } from './token-cursor.ts';

/** Parts of an expression with another in the place of a letter. */
const maximumParts = 20_000;

const minus = (left: Expression, right: Expression) => apply('add', left, apply('negate', right));

function replaced(expression: Expression, name: string, by: Expression): Expression {
  if (partsOf(expression).length * partsOf(by).length > maximumParts) throw new Unreadable();
  return renamed(expression, name, by);
}

/**
 * `\int_a^b f(x) dx` by any measure of two points `s` and `t` in its place: `(b - a)(w f(a + (b - a)s) + (1 - w) f(a + (b - a)t))`. If two sums of
 * integrals are equal for all of them, they are equal. An integral without bounds is one from an unknown place.
 */
export function integral(
  integrand: Expression,
  name: string,
  [from = symbol('from:'), to = symbol(name)]: readonly (Expression | undefined)[],
): Expression {
  const width = minus(to, from);
  const at = (place: string) =>
    replaced(integrand, name, apply('add', from, apply('multiply', width, symbol(place))));
  const share = symbol('w:');
  const first = apply('multiply', share, at('s:'));
  return apply(
    'multiply',
    width,
    apply('add', first, apply('multiply', minus(constant(1), share), at('t:'))),
  );
}

/** `\lim_{x \to a} f(x)` as `f(a + h)`. Limits that are the same for all `h` are equal. */
export function limit(value: Expression, name: string, to: Expression): Expression {
  return replaced(value, name, apply('add', to, symbol('h:')));
}

/** What `\frac` holds in `\frac{d^2 y}{dx^2}`, and in `\frac{d}{dx}`. */
const derivative =
  /^\{ (?:d|partial)(?: \^ \d| \^ \{ \d \})? (?:([a-zA-Z]+) )?\} \{ (?:(?:d|partial) [a-zA-Z]+ (?:\^ \d |\^ \{ \d \} )?){1,3}\}(?= |$)/;

/** How many tokens a derivative such as `\frac{dy}{dx}` takes, and its name: none for one that is an operator. `undefined` for others. */
export function derivativeIn(
  tokens: readonly string[],
): { readonly length: number; readonly name: string | undefined } | undefined {
  const [all, of] = derivative.exec(tokens.slice(0, 30).join(' ')) ?? [];
  if (all === undefined) return;
  return { length: all.split(' ').length, name: of && all.replaceAll(/[{} ]+/g, ' ').trim() };
}
