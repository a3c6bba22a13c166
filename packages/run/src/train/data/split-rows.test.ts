import { describe, expect, it } from 'vitest';
import type { RunRow } from './rows.ts';
import { countRepeats, splitRows } from './split-rows.ts';

const deal = (rows: readonly RunRow[], imitated?: number) =>
  splitRows(rows, { heldOut: 5, imitated, seed: '0' });
const row = (index: number, prompt: string, source: string | undefined, answer = 'a'): RunRow => ({
  ...{ id: String(index), prompt, metadata: { answer } },
  ...(source !== undefined && { source }),
});

describe('splitRows', () => {
  it('leaves out rows of a file that repeat a held-out question and its answer', () => {
    const rows = Array.from({ length: 60 }, (_, k) => row(k, `question ${k % 20}`, 'rows.jsonl'));
    const { imitated, practised, heldOut, repeated = 0 } = deal(rows, 10);
    const asked = new Set(heldOut.map(({ prompt }) => prompt));
    expect([...imitated, ...practised].filter(({ prompt }) => asked.has(prompt))).toEqual([]);
    expect(repeated).toBeGreaterThanOrEqual(5);
    expect(imitated.length + practised.length + heldOut.length + repeated).toBe(60);
  });

  it('tells made tasks apart by what graders know', () => {
    const rows = Array.from({ length: 20 }, (_, k) => row(k, 'Play!', undefined, String(k)));
    expect(deal(rows)).toMatchObject({ repeated: 0, practised: { length: 15 } });
    const twice = [...rows, ...rows.map(({ id, ...same }) => ({ id: `again ${id}`, ...same }))];
    expect(deal(twice).repeated).toBeGreaterThan(0);
  });

  it('counts rows of an evaluation that are learned from', () => {
    const own = [row(1, 'a', 'own.jsonl'), row(2, 'b', 'own.jsonl'), row(3, 'c', 'own.jsonl', 'other')];
    const learned = ['b', 'c', 'd'].map((prompt, k) => row(k, prompt, 'rows.jsonl'));
    expect([countRepeats(own, learned), countRepeats([], learned)]).toEqual([1, 0]);
  });

  it('keeps rows that ask the same of another input', () => {
    const rows = Array.from({ length: 60 }, (_, k) => row(k, 'Translate.', 'rows.jsonl', String(k)));
    expect(deal(rows)).toMatchObject({ repeated: 0, practised: { length: 55 } });
  });

  it('keeps all rows if there is only one question', () => {
    const rows = Array.from({ length: 20 }, (_, k) => row(k, 'Tell a story.', 'rows.jsonl'));
    expect(deal(rows)).toMatchObject({ repeated: 0, practised: { length: 15 }, heldOut: { length: 5 } });
  });
});
