import { Fraction } from 'fraction.js';
import { evaluate, toComplex } from './evaluate.ts';
import {
  apply,
  collection,
  constant,
  type Expression,
  hasSymbol,
  renamed,
  symbol,
  variablesOf,
} from './expression.ts';

interface Declaration {
  readonly name: string;
  readonly domain: string | undefined;
}

/** Answers in a parameter: `x = k\pi` and the declaration of `k`. */
interface Family extends Declaration {
  readonly parts: readonly Expression[];
}

/**
 * The parts of a list or set with one name for each variable that a part such as `k \in \mathbb{Z}` introduces: `n:0` for a whole number that
 * says one value, `t:0` for others, such as that of a point or of two unknowns.
 */
export function withBoundNames(parts: readonly Expression[]): readonly Expression[] {
  const declared = parts.flatMap((part) => declarationIn(part) ?? []);
  const isOfOneValue = (name: string) => {
    const values = parts.filter((part) => declarationIn(part) === undefined && namesIn(part).has(name));
    return new Set(values.map(unknownOf)).size === 1 && values.every((part) => unknownOf(part) !== undefined);
  };
  const bind = (rest: Expression, { name, domain }: Declaration, index: number) =>
    renamed(rest, name, `${domain === 'Z' && isOfOneValue(name) ? 'n' : 't'}:${index}`);
  return parts.map((part) => declared.reduce(bind, part));
}

/** The `x` of `x = k\pi`, nothing of `k\pi`; `undefined` for points, bounds, sequences and other equations. */
function unknownOf(part: Expression): string | undefined {
  const value = unlabelled(part);
  if (value.type === 'relation' || value.type === 'collection') return;
  const [unknown] = namesIn(part);
  return value === part ? '' : /_[a-z]/.test(unknown!) ? undefined : unknown;
}

/** The variable and the domain of `k \in \mathbb{Z}`. */
function declarationIn(part: Expression): Declaration | undefined {
  const [name, domain] = part.type === 'relation' && part.operators.join() === 'in' ? part.sides : [];
  if (name?.type !== 'symbol') return;
  return { name: name.name, domain: domain?.type === 'symbol' ? domain.name : undefined };
}

/** Values of a list, or the only one. */
const valuesOf = (expression: Expression): readonly Expression[] =>
  expression.type === 'collection' && /^(?:list|all|either)$/.test(expression.kind)
    ? expression.parts
    : [expression];

/** The family of `x = k\pi, k \in \mathbb{Z}`. */
function familyOf(expression: Expression): Family | undefined {
  const [parts, last] = [valuesOf(expression).slice(0, -1), valuesOf(expression).at(-1)!];
  const declared = declarationIn(last);
  if (declared === undefined || parts.length === 0 || !/^[ZR]$/.test(declared.domain ?? '')) return;
  const isBound = (part: Expression) => part.type === 'relation' && part.operators.join() !== '=';
  return parts.every((part) => !isBound(part) && namesIn(part).has(declared.name))
    ? { ...declared, parts }
    : undefined;
}

/** Families that do not name their domain: angles such as `x = \frac{\pi}{6} + 2k\pi`, and `7k + 3` for `3 \pmod 7`, and that. */
function impliedFamily(expression: Expression, other: Expression): Family | undefined {
  const [value, modulus] = [unlabelled(expression), modulusOf(expression)];
  const [name, ...others] = namesIn(value);
  const isOfOne = name !== undefined && others.length === 0 && /^[kmnqt]$/.test(name);
  if (isOfOne && (isAngle(expression) || modulusOf(other) !== undefined))
    return { parts: [expression], name, domain: 'Z' };
  if (value.type !== 'quantity' || modulus === undefined) return;
  const step = apply('multiply', constant(new Fraction(modulus)), symbol('k'));
  return { parts: [apply('add', value.value, step)], name: 'k', domain: 'Z' };
}

/** The `7` of `3 \pmod 7`. */
function modulusOf(expression: Expression): string | undefined {
  const value = unlabelled(expression);
  return value.type === 'quantity' ? /^mod (.*)/.exec(value.unit)?.[1] : undefined;
}

/** Whether an equation says what an angle is, in terms of `\pi`. */
function isAngle(expression: Expression): boolean {
  const [label, value] = expression.type === 'relation' ? expression.sides : [];
  const isNamed = label?.type === 'symbol' && /^(?:[xyzt]|theta|phi|alpha|beta)$/.test(label.name);
  return isNamed && hasSymbol(value!, 'pi');
}

/** What `x = k\pi` and `x \equiv 3` say, or the whole expression. */
function unlabelled(expression: Expression): Expression {
  const isNamed = expression.type === 'relation' && expression.sides[0]!.type === 'symbol';
  return isNamed && /^(?:=|equiv)$/.test(expression.operators.join()) ? expression.sides[1]! : expression;
}

/**
 * Two answers with the declarations of their parameters, if the right one has or implies one. A letter that is often a number of its domain
 * may have none. Without a family on the right the answer loses its declaration, and takes the letter of the right one.
 */
export function declaredAlike(given: Expression, expected: Expression): readonly [Expression, Expression] {
  const [own, wanted] = [familyOf(given), familyOf(expected) ?? impliedFamily(expected, given)];
  if (wanted === undefined) {
    const letter = own?.parts.length === 1 ? letterFor(own, expected) : undefined;
    return [letter === undefined ? given : renamed(own!.parts[0]!, own!.name, letter), expected];
  }
  const name = letterFor(wanted, valuesOf(given)[0]!);
  const undeclared = name === undefined ? undefined : { ...wanted, parts: valuesOf(given), name };
  const family = own ?? impliedFamily(given, expected) ?? undeclared;
  return family === undefined ? [given, expected] : [declared(family), declared(wanted)];
}

function declared({ parts, name, domain }: Family): Expression {
  const sides = [symbol(name), symbol(domain!)];
  return collection('list', [...parts, { type: 'relation', operators: ['in'], sides }]);
}

/** The letter that an expression has for that of a family: the same, or its only other one. */
function letterFor({ name, domain, parts }: Family, other: Expression): string | undefined {
  const [names, others] = [namesIn(unlabelled(parts[0]!)), namesIn(unlabelled(other))];
  const [letter, ...further] = [...others].filter((one) => !names.has(one));
  if (letter === undefined) return others.has(name) ? name : undefined;
  const isUsual = (domain === 'Z' ? /^[kmn]$/ : /^[abckmnACK]$/).test(letter);
  return isUsual && further.length === 0 && !others.has(name) ? letter : undefined;
}

const parameter = /^(?:[stuvk]|lambda|mu|theta|phi)$/;

/**
 * An answer of several values in parameters, under the names of the right one: `(1 + 2t, t)` as `(1 + 2s, s)`, of two parameters in both orders. Only
 * itself if the parameters have the same names, or are no usual ones.
 */
export function underParametersOf(given: Expression, expected: Expression): readonly Expression[] {
  const [own, wanted] = [parametersOf(given), parametersOf(expected)];
  const isOther = own.length === wanted.length && own.every((name) => !wanted.includes(name));
  const [first, second, ...others] = own;
  if (
    first === undefined ||
    !isOther ||
    others.length > 0 ||
    ![...own, ...wanted].every((name) => parameter.test(name))
  )
    return [given];
  const orders = second === undefined ? [wanted] : [wanted, [...wanted].reverse()];
  return orders.map((names) => own.reduce((rest, name, at) => renamed(rest, name, names[at]!), given));
}

/** `y'` for `\frac{dy}{dx}` in both answers if one of them writes it so. */
export function primedAlike(...sides: readonly [Expression, Expression]): readonly [Expression, Expression] {
  const names = sides.map((side) => [...namesIn(side)]);
  const [own, right] = names.map((of) => of.some((name) => /^[a-zA-Z]'+$/.test(name)));
  if (own === right) return sides;
  const derivative = /^d (?:\^ (?:\{ )?(\d) (?:\} )?)?([a-zA-Z]) d ([a-z])/;
  return sides.map((side, at) =>
    names[at]!.reduce((rest, name) => {
      const [, order = 1, of, by] = derivative.exec(name) ?? [];
      // By the usual variable, or by one that the answers are about.
      return of === undefined || !(by === 'x' || names.every((others) => others.includes(by!)))
        ? rest
        : renamed(rest, name, of + "'".repeat(Number(order)));
    }, side),
  ) as [Expression, Expression];
}

/** The letters of what several values are, other than names of these. None if all values are letters. */
function parametersOf(labelled: Expression): readonly string[] {
  const expression = unlabelled(labelled);
  if (expression.type !== 'collection' || !/^(?:\(\)|list|all|matrix 1(?:,1)+)$/.test(expression.kind))
    return [];
  const values = expression.parts.map(unlabelled);
  const isNamed = values.every((value, at) => value !== expression.parts[at]);
  if ((expression.kind === 'list' || expression.kind === 'all') && !isNamed) return [];
  const labels = isNamed
    ? expression.parts.flatMap((part) => (part.type === 'relation' ? [part.sides[0]!] : []))
    : [];
  if (values.every((value) => value.type === 'symbol')) return [];
  const names = new Set(values.flatMap((value) => [...namesIn(value)]));
  return [...names].filter((name) => !labels.some((label) => variablesOf(label).has(name)));
}

/** Whether two expressions in one whole number have the same values: `7k + 3` and `7k - 4`. */
export function areSameFamily(...sides: readonly [Expression, Expression]): boolean {
  const [name, ...others] = variablesOf(...sides);
  if (name === undefined || others.length > 0 || !name.startsWith('n:')) return false;
  const [[start, step], [other, size]] = sides.map((side) => lineOf(side, name)) as [Line, Line];
  const shift = (start - other) / size;
  return Math.abs(shift - Math.round(shift)) < 1e-9 && Math.abs(Math.abs(step / size) - 1) < 1e-11;
}

type Line = readonly [start: number, step: number];

/** Where a line begins and what each step adds; no numbers for anything else. */
function lineOf(side: Expression, name: string): Line {
  const at = (n: number) => {
    const { re, im } = toComplex(evaluate(side, new Map([[name, new Fraction(n)]])));
    return im === 0 ? re : Number.NaN;
  };
  const [start, step] = [at(0), at(1) - at(0)];
  const isLine = [2, 7, 30].every((n) => Math.abs(at(n) - start - n * step) < 1e-9);
  return isLine ? [start, step] : [Number.NaN, Number.NaN];
}

/** Names of the variables of expressions in relations, lists and quantities too. */
function namesIn(expression: Expression): ReadonlySet<string> {
  if (expression.type === 'relation') return new Set(expression.sides.flatMap((side) => [...namesIn(side)]));
  if (expression.type === 'collection')
    return new Set(expression.parts.flatMap((part) => [...namesIn(part)]));
  return variablesOf(expression.type === 'quantity' ? expression.value : expression);
}
