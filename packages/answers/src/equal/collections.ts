import { coordinatesOf } from './coordinates.ts';
import type { Agree, Collection, Expression } from './expression.ts';

const maximumParts = 100;

/** Lists and sets in any order, tuples, intervals and matrices in theirs. */
export function agreeCollections(given: Collection, expected: Collection, again: Agree): boolean {
  if (Math.max(given.parts.length, expected.parts.length) > maximumParts) return false;
  const isLoose = (kind: string) => kind === 'list' || kind === 'set';
  const tuple = isLoose(given.kind) && expected.kind === '()' ? coordinatesOf(given) : undefined;
  if (tuple !== undefined) return agreeCollections(tuple, expected, again);
  const right = isLoose(expected.kind) && given.kind === '()' ? coordinatesOf(expected) : undefined;
  if (right !== undefined) return agreeCollections(given, right, again);
  if (given.kind !== expected.kind && !(isLoose(given.kind) && isLoose(expected.kind))) return false;
  const hasSet = given.kind === 'set' || expected.kind === 'set';
  if (!hasSet && given.parts.length !== expected.parts.length) return false;
  if (!isLoose(given.kind) && given.kind !== 'union') {
    return given.parts.every((part, index) => again(part, expected.parts[index]!));
  }
  if (!hasSet) return matchesInAnyOrder(given.parts, expected.parts, again);
  return (
    given.parts.every((part) => expected.parts.some((other) => again(part, other))) &&
    expected.parts.every((other) => given.parts.some((part) => again(part, other)))
  );
}

/** Pairs parts greedily: enough for equality, which is transitive. At most `n²` comparisons. */
function matchesInAnyOrder(
  given: readonly Expression[],
  expected: readonly Expression[],
  same: Agree,
): boolean {
  const left = [...expected];
  return given.every((part) => {
    const index = left.findIndex((other) => same(part, other));
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  });
}
