import { expect, it } from 'vitest';
import { lostInJson } from './plain-state.ts';

class Board {
  readonly cells = [1];
}
const circle: { self?: unknown } = {};
circle.self = circle;
const shared = { a: 1 };

it.each([
  [{ prompt: 'a', stepCount: 0, list: [1, null, { deep: false }], absent: undefined }, undefined],
  [Object.assign(Object.create(null), { a: 1 }), undefined],
  [{ one: shared, two: shared }, undefined],
  [{ seen: new Map() }, 'state.seen is a Map'],
  [{ at: new Date(0) }, 'state.at is a Date'],
  [{ list: [1, { board: new Board() }] }, 'state.list[1].board is a Board'],
  [{ move: () => 1 }, 'state.move is a function'],
  [{ count: 10n }, 'state.count is a bigint'],
  [{ score: Number.NaN }, 'state.score is NaN'],
  [circle, 'state.self refers to itself'],
  [new Board(), 'state is a Board'],
  [new (class {})(), 'state is a class instance'],
  [{ key: Symbol('a') }, 'state.key is a symbol'],
  [{ limit: Number.NEGATIVE_INFINITY }, 'state.limit is -Infinity'],
  ['text', undefined],
  [null, undefined],
  [[[circle]], 'state[0][0].self refers to itself'],
])('finds what JSON loses: %o', (state, found) => {
  expect(lostInJson(state)).toBe(found);
});

it('begins with the place that it is told', () => {
  expect(lostInJson([1n], 'trajectory')).toBe('trajectory[0] is a bigint');
});
