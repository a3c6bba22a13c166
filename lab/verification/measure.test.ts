import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dataDirectory, hasData } from './data.ts';
import { measure } from './measure.ts';
import { detection, reliability } from './metrics.ts';
import { tables } from './tables.ts';

/** Rows of Markdown tables as their cells. */
function rowsOf(markdown: string): string[][] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('| --'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

describe('docs/verification.md', () => {
  it.skipIf(!hasData)(
    hasData ? 'has the figures that are measured, within rounding' : `skipped: no data in ${dataDirectory}`,
    async () => {
      const documented = new Map(
        rowsOf(readFileSync('docs/verification.md', 'utf8')).map((row) => [row.slice(0, 2).join('|'), row]),
      );
      const measured = Object.values(tables(await measure('summary'))).flatMap(rowsOf);
      expect(measured.length).toBeGreaterThan(40);
      for (const row of measured) {
        const expected = documented.get(row.slice(0, 2).join('|'));
        expect(expected, `a row for ${row.slice(0, 2).join(', ')}`).toBeDefined();
        for (const [column, cell] of row.entries()) {
          const [got, wanted] = [Number.parseFloat(cell), Number.parseFloat(expected![column]!)];
          if (Number.isNaN(got)) expect(cell).toBe(expected![column]);
          // One in the last place: sums may round another way on another machine.
          else
            expect(Math.abs(got - wanted), row.join(' ')).toBeLessThanOrEqual(
              cell.includes('%') ? 0.51 : 0.011,
            );
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
