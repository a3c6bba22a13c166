import { withBoundNames } from './bound-variables.ts';
import {
  apply,
  type Collection,
  collection,
  constant,
  type Expression,
  type Relation,
  symbol,
  variablesOf,
} from './expression.ts';
import { isLabel, isValueOfFunction, isVariable, withoutLabel } from './labels.ts';
import {
  infinity,
  intersection,
  joined,
  minusInfinity,
  placeOf,
  reals,
  withoutPoints,
} from './set-difference.ts';
import { entrywise } from './vectors.ts';

/**
 * An expression with one spelling for each thing: inequalities for one variable and `\mathbb{R}` become intervals, inequalities joined by
 * "or" a union, unions of sets a set, `x \in S` becomes S.
 */
export function canonical(expression: Expression): Expression {
  if (expression.type === 'symbol') {
    if (expression.name === 'emptyset') return collection('set', []);
    return expression.name === 'R' ? reals : expression;
  }
  if (expression.type === 'words') return ofWords(expression);
  if (expression.type === 'relation') return ofRelation(expression);
  if (expression.type === 'apply') {
    const points = withoutPoints(expression) ?? entrywise(expression);
    return points.type === 'collection' ? canonical(points) : expression;
  }
  if (expression.type !== 'collection' || expression.kind === 'cases') return expression;
  const excluded = isJoint(expression) ? pointsLeftOut(expression.parts) : undefined;
  if (excluded !== undefined) return canonical(excluded);
  const counted = isJoint(expression) ? wholeNumbersOf(expression.parts) : undefined;
  if (counted !== undefined) return counted;
  const written = withBoundNames(expression.parts);
  const parts = (isJoint(expression) ? written.filter((part) => !isRealDomain(part)) : written).map(
    canonical,
  );
  if (/^(?:list|all)$/.test(expression.kind) && parts.length === 1) return parts[0]!;
  const common = isJoint(expression) && isOfInequalities(expression) ? intersection(parts) : undefined;
  if (common !== undefined) return common;
  const kind =
    /^(?:list|either)$/.test(expression.kind) && isOfInequalities(expression)
      ? 'union'
      : /^(?:all|either)$/.test(expression.kind)
        ? 'list'
        : expression.kind;
  if (kind !== 'union') return ofRows(parts, kind) ?? collection(vectorKind(kind), parts);
  const members = parts.flatMap((part) => {
    if (part.type === 'relation') return [collection('set', withoutLabel(part))];
    return isCollection(part, 'union') ? part.parts : [part];
  });
  const isSet = members.every((part) => part.type !== 'collection' || part.kind === 'set');
  return isSet
    ? collection(
        'set',
        members.flatMap((part) => (part.type === 'collection' ? part.parts : [part])),
      )
    : unionOf(joined(members));
}

const unionOf = (members: readonly Expression[]) =>
  members.length === 1 ? members[0]! : collection('union', members);

const nothing =
  /^(?:no (?:[a-z]+ ){0,3}(?:(?:solution|root|value|number)s?|exists?)|no (?:solution|root|value|number)s? exists?|empty(?: set)?|none)$/;

function ofWords(words: Extract<Expression, { type: 'words' }>): Expression {
  const text = words.text.replace(/^(?:there (?:is|are) (?=.)|(?:the )?set of )/, '').replaceAll(' - ', ' ');
  if (/^(?:all )?real(?: number)?s?$/.test(text)) return reals;
  if (/^(?:all )?positive real(?: number)?s?$/.test(text)) return collection('()', [constant(0), infinity]);
  if (/^(?:all )?nonnegative real(?: number)?s?$/.test(text))
    return collection('[)', [constant(0), infinity]);
  if (/^(?:all |the )?integers$/.test(text)) return symbol('Z');
  if (nothing.test(text)) return collection('set', []);
  return { ...words, text: text.replace(/^infinite(?:ly many)?(?: solutions)?$/, 'infinitely many') };
}

/** `[[1,2],[3,4]]` is a matrix. */
function ofRows(rows: readonly Expression[], kind: string): Expression | undefined {
  if (kind !== '[]' || !rows.every((row) => isCollection(row, '[]'))) return;
  const lengths = rows.map(({ parts }) => parts.length);
  return collection(
    `matrix ${lengths.join()}`,
    rows.flatMap(({ parts }) => parts),
  );
}

/** A vector in angle brackets, or as a column, is a tuple. */
function vectorKind(kind: string): string {
  return kind === '<>' || /^matrix 1(?:,1)+$/.test(kind) ? '()' : kind;
}

function isCollection(part: Expression, kind: string): part is Collection {
  return part.type === 'collection' && part.kind === kind;
}

const isJoint = ({ kind, parts }: Collection) => /^(?:list|all)$/.test(kind) && parts.length > 1;

/** `x \ne 1, x \ne 2` as `\mathbb{R} \setminus \{1, 2\}`, and `x > 0, x \ne 2` as `(0, \infty) \setminus \{2\}`. */
function pointsLeftOut(given: readonly Expression[]): Expression | undefined {
  const parts = given.filter((part) => !isRealDomain(part));
  const names = variablesOf(...parts.flatMap((part) => (part.type === 'relation' ? part.sides : [])));
  const isExcluded = (part: Expression): part is Relation =>
    part.type === 'relation' && part.operators.join() === 'ne' && isVariable(part.sides[0]!);
  const points = parts.filter(isExcluded).map(({ sides }) => sides[1]!);
  const rest = parts.filter((part) => !isExcluded(part));
  if (names.size !== 1 || points.length === 0) return;
  const interval = rest.length === 0 ? reals : canonical(collection('list', rest));
  const isInterval = interval.type === 'collection' && /^[([][)\]]$/.test(interval.kind);
  return isInterval ? apply('without', interval, collection('set', points)) : undefined;
}

/** `1 \le n \le 3, n \in \mathbb{Z}` as a set of numbers, if they are few. 0 may be a natural number. */
function wholeNumbersOf(parts: readonly Expression[]): Collection | undefined {
  const domain = parts.find(
    (part): part is Relation => part.type === 'relation' && part.operators.join() === 'in',
  );
  const [name, numbers] = domain?.sides ?? [];
  const others = parts.filter((part): part is Relation => part !== domain && part.type === 'relation');
  const areOfOne =
    name?.type === 'symbol' &&
    others.length === parts.length - 1 &&
    others.every(({ sides }) => [...variablesOf(...sides)].join() === name.name);
  if (!areOfOne || numbers?.type !== 'symbol' || !/^[ZN]$/.test(numbers.name)) return;
  const interval = canonical(collection('list', others));
  if (interval.type !== 'collection' || !/^[([][)\]]$/.test(interval.kind)) return;
  const [low, high] = interval.parts.map(placeOf) as [number, number];
  const first = interval.kind[0] === '(' ? Math.floor(low) + 1 : Math.ceil(low);
  const last = interval.kind[1] === ')' ? Math.ceil(high) - 1 : Math.floor(high);
  if (!(last - first < 100) || (numbers.name === 'N' && first < 1)) return;
  return collection(
    'set',
    Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => constant(first + k)),
  );
}

/** `x \in \mathbb{R}`, which says nothing of a variable. */
function isRealDomain(part: Expression): boolean {
  if (part.type !== 'relation' || part.operators.join() !== 'in') return false;
  const [name, domain] = part.sides;
  return isVariable(name!) && domain!.type === 'symbol' && domain!.name === 'R';
}

function isOfInequalities({ parts }: Collection): boolean {
  const relations = parts.filter((part) => part.type === 'relation');
  const intervals = relations.filter((part) => intervalOf(part) !== undefined);
  const points = relations.filter((part) => withoutLabel(part).length === 1);
  return intervals.length > 0 && intervals.length + points.length === parts.length;
}

function ofRelation(written: Relation): Expression {
  const relation = withoutApproximation(written);
  if (relation.type !== 'relation') return canonical(relation);
  const { operators, sides } = relation;
  if (operators.length === 1 && operators[0] === 'in' && isLabel(sides[0]!)) return canonical(sides[1]!);
  if (operators.join() === 'ne' && isVariable(sides[0]!) && variablesOf(sides[1]!).size === 0)
    return canonical(apply('without', symbol('R'), collection('set', [sides[1]!])));
  return intervalOf(relation) ?? ofDistance(relation) ?? { ...relation, sides: sides.map(canonical) };
}

const openings: Readonly<Record<string, string>> = { '<': '(', le: '[', '>': '(', ge: '[' };
const closings: Readonly<Record<string, string>> = { '<': ')', le: ']', '>': ')', ge: ']' };

/** The interval of `a < x`, `x \le b` or `a < x \le b`. */
function intervalOf({ operators, sides }: Relation): Expression | undefined {
  const isRising = operators.every((operator) => operator === '<' || operator === 'le');
  if (!isRising && !operators.every((operator) => operator === '>' || operator === 'ge')) return;
  const [signs, values] = isRising ? [operators, sides] : [[...operators].reverse(), [...sides].reverse()];
  const middle = values.findIndex((side) => isVariable(side) || isValueOfFunction(side));
  const others = values.filter((_, index) => index !== middle);
  if (middle < 0 || values.length > 3 || (values.length === 3 && middle !== 1)) return;
  if (others.some((side) => [...variablesOf(side)].some((name) => name !== 'infty'))) return;
  const low = values[middle - 1];
  const high = values[middle + 1];
  const kind =
    (low === undefined ? '(' : openings[signs[0]!]!) + (high === undefined ? ')' : closings[signs.at(-1)!]!);
  return collection(kind, [low ?? minusInfinity, high ?? infinity]);
}

/** `|x - a| < r` is an interval, and `|x - a| > r` a union. */
function ofDistance({
  operators: [operator, ...others],
  sides: [first, second],
}: Relation): Expression | undefined {
  const isInside = operator === '<' || operator === 'le';
  if (others.length > 0 || !(isInside || operator === '>' || operator === 'ge')) return;
  if (first?.type !== 'apply' || first.name !== 'abs' || variablesOf(second!).size > 0) return;
  const [name, shift] = first.args[0]!.type === 'apply' ? first.args[0]!.args : first.args;
  const isShifted = first.args[0]!.type === 'apply' && first.args[0]!.name === 'add';
  if (name?.type !== 'symbol' || isShifted !== (shift !== undefined)) return;
  if (shift !== undefined && variablesOf(shift).size > 0) return;
  const centre = apply('negate', shift ?? constant(0));
  const [low, high] = [apply('add', centre, apply('negate', second!)), apply('add', centre, second!)];
  if (isInside) return collection(openings[operator!]! + closings[operator!]!, [low, high]);
  const below = collection(`(${closings[operator!]!}`, [minusInfinity, low]);
  return collection('union', [below, collection(`${openings[operator!]!})`, [high, infinity])]);
}

/** `x = 1/3 \approx 0.33` says 1/3, and `x \approx 2` says 2. */
function withoutApproximation({ operators, sides, ...relation }: Relation): Expression {
  const at = operators.indexOf('approx');
  if (at === 0 && isLabel(sides[0]!)) return { ...relation, operators: ['='], sides: sides.slice(0, 2) };
  if (at === 0) return sides[0]!;
  const end = at < 0 ? operators.length : at;
  return { ...relation, operators: operators.slice(0, end), sides: sides.slice(0, end + 1) };
}
