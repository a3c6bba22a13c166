import { expect, it } from 'vitest';
import { DatasetEntry, type MixturePlace } from './dataset-entry.ts';

const entry = (mixed?: MixturePlace) =>
  new DatasetEntry('row', { number: 3, at: 7, origin: { name: 'train.jsonl', unit: 'line' }, mixed });

it('an entry has the place of its origin, and the number of its dataset as an id', () => {
  expect(entry()).toMatchObject({ row: 'row', number: 3, at: 7, place: 'train.jsonl, line 7' });
  expect([entry().idFrom(undefined), entry().idFrom('own')]).toEqual(['3', 'own']);
});

it.each([
  [0, 'math:3', 'math:own'],
  [1, 'math:3~2', 'math:own~2'],
  [2, 'math:3~3', 'math:own~3'],
])('an id names the part of a mixture, and the round %d', (round, numbered, named) => {
  const mixed = entry({ part: 'math', round });
  expect([mixed.idFrom(undefined), mixed.idFrom('own')]).toEqual([numbered, named]);
});
