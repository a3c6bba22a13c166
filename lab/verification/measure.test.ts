import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dataDirectory, hasData } from './data.ts';
import { measure } from './measure.ts';
import { detection, reliability } from './metrics.ts';
import { tables } from './tables.ts';

/** Rows of Markdown tables: what each is about, and its cells by their column. */
function rowsOf(markdown: string) {
  return markdown.split(/\n(?!\|)/).flatMap((block) => {
    const [header = [], , ...rows] = block
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    const isOfTwo = ['by', 'score from'].includes(header[1]!);
    return rows.map((cells) => ({
      about: [header[0], ...cells.slice(0, isOfTwo ? 2 : 1)].join(', '),
      cells: new Map(header.map((column, at) => [column, cells[at]!])),
    }));
  });
}

const skipped = !hasData
  ? `skipped: no data in ${dataDirectory}`
  : process.env.RLP_SLOW_TESTS
    ? undefined
    : 'skipped: the figures take a minute, set RLP_SLOW_TESTS=1';

describe('docs/verification.md', () => {
  it.skipIf(skipped !== undefined)(
    skipped ?? 'has the figures that are measured, within rounding',
    async () => {
      const page = rowsOf(readFileSync('docs/verification.md', 'utf8'));
      const documented = new Map(page.map(({ about, cells }) => [about, cells]));
      const measured = Object.values(tables(await measure())).flatMap(rowsOf);
      expect(measured.length).toBeGreaterThan(80);
      for (const { about, cells } of measured) {
        const expected = documented.get(about);
        expect(expected, `a row for ${about}`).toBeDefined();
        for (const [column, cell] of cells) {
          const wanted = expected!.get(column);
          const difference = Math.abs(Number.parseFloat(cell) - Number.parseFloat(wanted ?? ''));
          if (Number.isNaN(difference)) expect(cell, `${about}: ${column}`).toBe(wanted);
          // One in the last place: sums may round another way on another machine.
          else
            expect(difference, `${about}: ${column}`).toBeLessThanOrEqual(cell.includes('%') ? 0.51 : 0.011);
        }
      }
    },
    120_000,
  );
});

describe('detection', () => {
  const judged = [
    { good: true, score: 0.9, failed: false },
    { good: true, score: 0.4, failed: true },
    { good: false, score: 0.4, failed: true },
    { good: false, score: 0.8, failed: false },
  ];

  it('counts as one does on paper', () => {
    const { precision, recall, f1, falseAlarms, auc, calibrationError } = detection(judged, 0.5);
    expect({ precision, recall, f1, falseAlarms }).toEqual({
      precision: 0.5,
      recall: 0.5,
      f1: 0.5,
      falseAlarms: 0.5,
    });
    // Good above bad: 0.9 beats both, 0.4 ties with one.
    expect(auc).toBe(2.5 / 4);
    // Bins at 0.4 (two texts, half good), 0.8 (bad) and 0.9 (good).
    expect(calibrationError).toBeCloseTo(0.5 * 0.1 + 0.25 * 0.8 + 0.25 * 0.1, 12);
  });

  it('weights good and bad texts to the share expected', () => {
    const [low] = reliability(judged, 0.2);
    expect(low).toMatchObject({ from: 0.4, texts: 2 });
    expect(low!.shareGood).toBeCloseTo(0.8, 12);
    expect(low!.share).toBeCloseTo(0.5, 12);
  });
});
