import { ArgumentError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { changeOfRows, digestRows } from './row-digest.ts';
import type { RunRow } from './rows.ts';
import { splitRows } from './split-rows.ts';

const rows = (count: number): RunRow[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ id: String(index + 1), prompt: `${index}+1=`, source: 'sums.jsonl' },
    metadata: { answer: String(index + 1) },
  }));
const digest = (given: readonly RunRow[]) =>
  digestRows(splitRows(given, { heldOut: 4, imitated: undefined, seed: '0' }));

describe('the digest of rows', () => {
  const before = digest(rows(40));

  it('counts each row once and does not look at the name of the file', () => {
    expect(before).toMatchObject({ learned: 36, heldOut: 4 });
    expect(digest(rows(40).map((row) => ({ ...row, source: 'moved.jsonl' })))).toEqual(before);
    expect(changeOfRows('runs/a', before, digest(rows(40)))).toBeUndefined();
    expect(changeOfRows('runs/a', undefined, before)).toBeUndefined();
  });

  it('refuses data of which other rows would be held out', () => {
    const shorter = rows(40).slice(1);
    const renumbered = shorter.map((row, index) => ({ ...row, id: String(index + 1) }));
    expect(() => changeOfRows('runs/a', before, digest(renumbered))).toThrow(
      new ArgumentError(
        'runs/a: the data has changed, so other rows would be held out than when this run began (36 rows to learn from and 4 held out then, ' +
          '35 rows to learn from and 4 held out now), and it may have learned from them. Restore the data, choose another folder with --out (in code `output`), ' +
          "or delete that run with --new (in code `{ existing: 'new' }`)",
      ),
    );
  });

  it('says that rows to learn from were corrected', () => {
    const split = splitRows(rows(40), { heldOut: 4, imitated: undefined, seed: '0' });
    const [first, ...rest] = split.practised;
    const corrected = [{ ...first!, metadata: { answer: 'corrected' } }, ...rest];
    const now = digestRows({ ...split, imitated: corrected, practised: corrected });
    expect(changeOfRows('runs/a', before, now)).toBe(
      'The rows to learn from have changed since this run began (36 then, 36 now).',
    );
  });

  it('takes metadata that JSON cannot hold', () => {
    const row = { id: '1', prompt: '', metadata: { answer: '1', size: 10n } };
    expect(digestRows({ imitated: [], practised: [row], heldOut: [] }).learned).toBe(1);
  });
});
