import { type Agree, type Collection, collection, type Expression } from './expression.ts';
import { withoutLabel } from './labels.ts';

const maximumParts = 100;

/** Lists and sets in any order, tuples, intervals and matrices in theirs. */
export function agreeCollections(given: Collection, expected: Collection, again: Agree): boolean {
  if (Math.max(given.parts.length, expected.parts.length) > maximumParts) return false;
  const isLoose = (kind: string) => kind === 'list' || kind === 'set';
  const placed = (own: Collection, other: Collection) =>
    isLoose(own.kind) && other.kind === '()' ? coordinatesOf(own) : undefined;
  const [tuple, right] = [placed(given, expected), placed(expected, given)];
  if (tuple ?? right) return agreeCollections(tuple ?? given, right ?? expected, again);
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

/** Letters that name the places of a tuple, in this order. */
const inOrder = /^(?:abc?d?|xyz?|mn|pqr?|rs|st|uvw?)$/;

/** `x = 1, y = 2` as the tuple `(1, 2)`, in whatever order it is written; `undefined` for other lists. */
function coordinatesOf({ parts }: Collection): Collection | undefined {
  const places = parts.flatMap((part) => {
    const name = part.type === 'relation' ? part.sides[0] : undefined;
    const value = part.type === 'relation' ? withoutLabel(part)[0] : undefined;
    return name?.type === 'symbol' && value !== undefined ? [{ name: name.name, value }] : [];
  });
  places.sort((a, b) => (a.name < b.name ? -1 : 1));
  if (places.length !== parts.length || !inOrder.test(places.map(({ name }) => name).join(''))) return;
  return collection(
    '()',
    places.map(({ value }) => value),
  );
}
