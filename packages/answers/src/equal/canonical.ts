import { evaluate, toComplex } from './evaluate.ts';
import { apply, collection, type Expression, symbol, variablesOf } from './expression.ts';
import { entrywise } from './vectors.ts';

type Relation = Extract<Expression, { type: 'relation' }>;

const infinity = symbol('infty');
const minusInfinity = apply('negate', infinity);
const reals = collection('()', [minusInfinity, infinity]);

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
    const points = realsWithout(expression) ?? entrywise(expression);
    return points.type === 'collection' ? canonical(points) : expression;
  }
  if (expression.type !== 'collection') return expression;
  const parts = expression.parts.map(canonical);
  const kind = isUnionOfInequalities(expression)
    ? 'union'
    : expression.kind === 'all'
      ? 'list'
      : expression.kind;
  if (kind !== 'union') return collection(vectorKind(kind), parts);
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
    : collection('union', members);
}

const nothing =
  /^(?:no (?:(?:real|integer|positive|valid) )*(?:solution|root|value|number)s?(?: exists?)?|empty set)$/;

function ofWords(words: Extract<Expression, { type: 'words' }>): Expression {
  const text = words.text.replace(/^there (?:is|are) (?=.)/, '').replaceAll(' - ', ' ');
  if (/^(?:all )?real(?: number)?s?$/.test(text)) return reals;
  if (nothing.test(text)) return collection('set', []);
  return { ...words, text: text.replace(/^infinite(?:ly many)?(?: solutions)?$/, 'infinitely many') };
}

/** A vector in angle brackets, or as a column, is a tuple. */
function vectorKind(kind: string): string {
  return kind === '<>' || /^matrix 1(?:,1)+$/.test(kind) ? '()' : kind;
}

function isCollection(part: Expression, kind: string): part is Extract<Expression, { type: 'collection' }> {
  return part.type === 'collection' && part.kind === kind;
}

function isUnionOfInequalities({ kind, parts }: Extract<Expression, { type: 'collection' }>): boolean {
  const relations = parts.filter((part) => part.type === 'relation');
  const intervals = relations.filter((part) => intervalOf(part) !== undefined);
  const points = relations.filter((part) => withoutLabel(part).length === 1);
  return kind === 'list' && intervals.length > 0 && intervals.length + points.length === parts.length;
}

function ofRelation(written: Relation): Expression {
  const relation = withoutApproximation(written);
  if (relation.type !== 'relation') return canonical(relation);
  const { operators, sides } = relation;
  if (operators.length === 1 && operators[0] === 'in' && isLabel(sides[0]!)) return canonical(sides[1]!);
  if (operators.join() === 'ne' && isVariable(sides[0]!))
    return canonical(apply('without', symbol('R'), collection('set', [sides[1]!])));
  return intervalOf(relation) ?? ofDistance(relation) ?? { ...relation, sides: sides.map(canonical) };
}

function isVariable(side: Expression): side is Extract<Expression, { type: 'symbol' }> {
  return side.type === 'symbol' && variablesOf(side).size === 1 && side.name !== 'infty';
}

/** `f(x)`, `g(t)`. */
function isValueOfFunction(side: Expression): boolean {
  const [name, argument] = side.type === 'apply' && side.name === 'multiply' ? side.args : [];
  return (
    name?.type === 'symbol' && /^[fgh]$/.test(name.name) && argument !== undefined && isVariable(argument)
  );
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

/** `|x| < a` is an interval, and `|x| > a` a union. */
function ofDistance({
  operators: [operator, ...others],
  sides: [first, second],
}: Relation): Expression | undefined {
  const isInside = operator === '<' || operator === 'le';
  if (others.length > 0 || !(isInside || operator === '>' || operator === 'ge')) return;
  if (first?.type !== 'apply' || first.name !== 'abs' || first.args[0]!.type !== 'symbol') return;
  const [low, high] = [apply('negate', second!), second!];
  if (isInside) return collection(openings[operator!]! + closings[operator!]!, [low, high]);
  const below = collection(`(${closings[operator!]!}`, [minusInfinity, low]);
  return collection('union', [below, collection(`${openings[operator!]!})`, [high, infinity])]);
}

/** `\mathbb{R} \setminus \{a, b\}` and `\mathbb{R} - \{a, b\}`, for numbers. */
function realsWithout({
  name,
  args: [all, rest],
}: Extract<Expression, { type: 'apply' }>): Expression | undefined {
  if (all?.type !== 'symbol' || all.name !== 'R' || rest === undefined) return;
  const left = name === 'add' && rest.type === 'apply' && rest.name === 'negate' ? rest.args[0]! : rest;
  if (!(name === 'without' || left !== rest) || !isCollection(left, 'set')) return;
  const points = left.parts
    .map((point) => ({ point, at: toComplex(evaluate(point, new Map())).re }))
    .sort((a, b) => a.at - b.at)
    .map(({ point }) => point);
  const edges = [minusInfinity, ...points, infinity];
  return collection(
    'union',
    edges.slice(1).map((edge, index) => collection('()', [edges[index]!, edge])),
  );
}

/** `x = 1/3 \approx 0.33` says 1/3, and `x \approx 2` says 2. */
function withoutApproximation({ operators, sides, ...relation }: Relation): Expression {
  const at = operators.indexOf('approx');
  if (at === 0 && isLabel(sides[0]!)) return { ...relation, operators: ['='], sides: sides.slice(0, 2) };
  if (at === 0) return sides[0]!;
  const end = at < 0 ? operators.length : at;
  return { ...relation, operators: operators.slice(0, end), sides: sides.slice(0, end + 1) };
}

/** What an equation says that something is: `x = 5`, `f(x) = 5`, `5 = x`, `a = 2 + 3 = 5` and `2 + 3 = 5` say 5. Empty for other equations. */
export function withoutLabel({ operators, sides }: Relation): readonly Expression[] {
  if (!operators.every((operator) => operator === '=' || operator === 'equiv')) return [];
  if (isComputed(sides)) return sides;
  const [label, ...values] = sides;
  if (isVariable(label!) && values.some((value) => variablesOf(value).has(label.name))) return [];
  if (isLabel(label!)) return values;
  return sides.length === 2 && isLabel(sides[1]!) && sides[1]!.type !== 'words' ? [sides[0]!] : [];
}

/** A calculation: `\frac{6}{8} = \frac{3}{4}`, but not `3 = 3`. */
function isComputed(sides: readonly Expression[]): boolean {
  const isConstant = (side: Expression) => side.type === 'number' || side.type === 'apply';
  return (
    sides.every((side) => isConstant(side) && variablesOf(side).size === 0) &&
    sides.some((side) => side.type === 'apply' && side.name !== 'negate')
  );
}

/** Names: `x`, `AB`, `f(x)`, `\frac{dy}{dx}`, `(x, y)`, `|v|`, words. */
function isLabel(side: Expression): boolean {
  if (side.type === 'words') return true;
  if (side.type === 'symbol') return variablesOf(side).size === 1;
  if (side.type === 'collection') return side.kind === '()' && side.parts.every(isLabel);
  if (side.type !== 'apply') return false;
  const [first, second] = side.args;
  if (side.name === 'abs') return isLabel(first!);
  if (side.name === 'divide') return isLabel(first!) && isLabel(second!);
  if (side.name !== 'multiply') return false;
  const isFunction = first!.type === 'apply' && first!.name === 'power' && first!.args[0]!.type === 'symbol';
  return (isFunction || isLabel(first!)) && (second!.type === 'number' || isLabel(second!));
}
