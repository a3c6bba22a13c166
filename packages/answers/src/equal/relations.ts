import { type Agree, apply, type Expression, type Relation, renamed, variablesOf } from './expression.ts';
import { isValueOfFunction } from './labels.ts';
import { type Sameness, sameValues } from './same-values.ts';

const mirrored: Readonly<Record<string, string>> = { '>': '<', ge: 'le' };

/** A definition of `f(t)` with the name that the other one has for `t`. */
function withArgumentOf(given: Relation, expected: Relation): Relation {
  const [own, wanted] = [given, expected].map(({ sides: [call] }) =>
    call?.type === 'apply' && call.name === 'call' && call.args[1]?.type === 'symbol'
      ? call.args[1].name
      : undefined,
  );
  const isTaken = wanted === undefined || given.sides.some((side) => variablesOf(side).has(wanted));
  return own === undefined || isTaken ? given : (renamed(given, own, wanted) as Relation);
}

/** `y(x) = …` as `y = …`, if the other one is so. */
function withoutArgument(given: Relation, expected: Relation): Relation {
  const [[call, ...others], [name]] = [given.sides, expected.sides];
  const isIndexed =
    call?.type === 'symbol' && name?.type === 'symbol' && call.name.replace(/_[\d,]+$/, '') === name.name;
  if (isIndexed) return { ...given, sides: [name, ...others] };
  const [called, argument] = call?.type === 'apply' && call.name === 'call' ? call.args : [];
  const isSame =
    called?.type === 'symbol' &&
    name?.type === 'symbol' &&
    (called.name === name.name || (called.name === 'f' && name.name === 'y'));
  return isSame && argument?.type === 'symbol' ? { ...given, sides: [name, ...others] } : given;
}

/** Equations and inequalities of two sides are equal up to a factor; longer chains side by side. */
export function agreeRelations(given: Relation, expected: Relation, seed: string, again: Agree): boolean {
  const [own, right] = [withArgumentOf(given, expected), expected];
  const [a, b] = [withoutArgument(own, right), withoutArgument(right, own)].map(({ operators, sides }) => {
    const operator = operators[0]!;
    const isMirrored = operators.length === 1 && mirrored[operator] !== undefined;
    return isMirrored
      ? { operators: [mirrored[operator]!], sides: [sides[1]!, sides[0]!] }
      : { operators, sides };
  }) as [Relation, Relation];
  if (a.operators.join() !== b.operators.join()) return false;
  if (a.sides.every((side, index) => again(side, b.sides[index]!))) return true;
  if (a.sides.length > 2) return false;
  const [first, second] = [a, b].map(({ sides: [left, right] }) =>
    apply('add', left!, apply('negate', right!)),
  );
  const sameness: Sameness = /^(?:=|ne)$/.test(a.operators[0]!) ? 'proportional' : 'positively proportional';
  return sameValues(first!, second!, { seed, sameness });
}

/** Whether inequalities are for the same variable, if both name one: `y > 2` is not `x > 2`. */
export function haveOneVariable(given: Expression, expected: Expression): boolean {
  const [own, right] = [boundedBy(given), boundedBy(expected)];
  return own.length === 0 || right.length === 0 || own.some((name) => right.includes(name));
}

/** The variables that inequalities and memberships bound. */
function boundedBy(expression: Expression): readonly string[] {
  if (expression.type === 'collection') return expression.parts.flatMap(boundedBy);
  if (expression.type !== 'relation' || !/[<>]|[gl]e|ne|in/.test(expression.operators[0]!)) return [];
  const isDomain = expression.operators[0] === 'in' && expression.sides[1]!.type === 'symbol';
  return isDomain
    ? []
    : expression.sides.flatMap((side) =>
        isValueOfFunction(side) ? [] : [...variablesOf(side)].filter((name) => name !== 'element:'),
      );
}
