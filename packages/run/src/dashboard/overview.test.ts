import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { overviewRows } from './overview.ts';

/** A file in memory. */
const fileOf = (bytes: Buffer) => ({
  read: async (buffer: Buffer, offset: number, length: number, position: number) => {
    const bytesRead = bytes.subarray(position, position + length).copy(buffer, offset);
    return { bytesRead, buffer };
  },
});

/** Rows are lines of their number and a filling. Other lines are not rows. */
const parse = (text: string) => (/^\d+ é*$/.test(text) ? text : undefined);

async function overviewOf(text: string, options: Parameters<typeof overviewRows>[3], size?: number) {
  const bytes = Buffer.from(text);
  return overviewRows(fileOf(bytes) as never, size ?? bytes.length, parse, options);
}

const lines = fc
  .array(fc.oneof({ weight: 5, arbitrary: fc.nat(90) }, fc.constantFrom('', 'note', '\0\0')), {
    maxLength: 120,
  })
  .map((kinds) => kinds.map((kind, at) => (typeof kind === 'number' ? `${at} ${'é'.repeat(kind)}` : kind)));

describe('overviewRows', () => {
  it('finds only whole rows of the file, in their order and none twice, with the first and the last', async () => {
    const cases = fc.record({
      lines,
      end: fc.constantFrom('', '\n'),
      cut: fc.nat(40),
      places: fc.integer({ min: 1, max: 40 }),
      width: fc.integer({ min: 1, max: 80 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ lines, end, cut, places, width }) => {
        const text = lines.join('\n') + end;
        const bytes = Buffer.from(text);
        const size = Math.max(0, bytes.length - cut);
        const whole = bytes.subarray(0, size).toString('utf8').split('\n').slice(0, -1).filter(parse);
        const options = { places, widths: [width, bytes.length + 1] };
        const found = await overviewOf(text, options, size);
        expect(found.length).toBeLessThanOrEqual(places + 1);
        const order = found.map((row) => whole.indexOf(row));
        expect(order).toEqual([...new Set(order)].sort((a, b) => a - b));
        expect(order).not.toContain(-1);
        expect([found[0], found.at(-1)]).toEqual([whole[0], whole.at(-1)]);
      }),
    );
  });

  it('finds the next row after each place', async () => {
    const text = Array.from({ length: 90 }, (_, at) => `${at + 10} éé\n`).join('');
    const found = await overviewOf(text, { places: 9, widths: [16] });
    expect(found.map(Number.parseFloat)).toEqual([10, 21, 31, 41, 51, 61, 71, 81, 91, 99]);
  });

  it('skips places within lines longer than the greatest width', async () => {
    const text = `1 é\n${'x'.repeat(1000)}\n2 é\n3 é\n`;
    expect(await overviewOf(text, { places: 10, widths: [8, 16] })).toEqual(['1 é', '3 é']);
  });

  it('finds what is left of a file that became shorter', async () => {
    expect(await overviewOf('1 é\n2 é\n', { places: 250, widths: [8] }, 1000)).toEqual(['1 é', '2 é']);
  });
});
