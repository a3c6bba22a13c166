import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineChart } from './chart.ts';
import { renderReport } from './report.ts';
import { shortNumber, ticks } from './scale.ts';

const rows = (values: readonly number[]) =>
  values.map((value, step) => ({ step, metrics: { 'reward/mean': value } }));

/** Tags of a page, without what stands between them. */
const tags = (page: string) => page.match(/<[a-z!/][^>]*>/gi) ?? [];

describe('renderReport', () => {
  it('shows figures, curves, values and samples', () => {
    const page = renderReport({
      title: 'Addition',
      description: 'GRPO after SFT.',
      summary: { 'accuracy after': 0.984, device: 'cpu' },
      runs: [{ name: 'GRPO', rows: rows([0.25, 0.5, 0.75]) }],
      samples: [{ prompt: '1+1=', reference: '2', before: '3', after: '2', rewardBefore: 0, rewardAfter: 1 }],
    });
    expect(page).toContain('<h1>Addition</h1><p class="lead">GRPO after SFT.</p>');
    expect(page).toContain('<dt>accuracy after</dt><dd>0.984</dd>');
    expect(page).toContain('aria-label="reward/mean: GRPO from 0.25 at step 0 to 0.75 at step 2"');
    expect(page).toContain('<tr><th scope="row">1</th><td>0.5</td></tr>');
    expect(page).toContain('<pre>3</pre><span class="mark level">reward 0</span>');
    expect(page).toContain('<pre>2</pre><span class="mark up">▲ reward 1</span>');
  });

  it('keeps whatever a model wrote from becoming markup', () => {
    const fixed = tags(page('x')).length;
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', '/', 'script', ' ') }),
        (text) => {
          expect(tags(page(text))).toHaveLength(fixed);
        },
      ),
    );
    function page(text: string): string {
      return renderReport({
        title: `t${text}`,
        summary: { [`k${text}`]: text },
        runs: [{ name: text, rows: [{ step: 0, metrics: { [`m${text}`]: 1 } }] }],
        samples: [{ prompt: text, before: text, after: text, reference: text }],
      });
    }
  });

  it('requests nothing and runs nothing', () => {
    const page = renderReport({ title: 't', runs: [{ name: 'r', rows: rows([1, 2]) }] });
    expect(page).toContain(
      `http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'`,
    );
    expect(page).not.toMatch(/<(script|link|img|iframe|object)|https?:|url\(|@import| on\w+=/i);
  });

  it('draws the metrics asked for, in that order', () => {
    const metrics = { a: 1, b: 2, c: 3 };
    const page = renderReport({
      title: 't',
      runs: [{ name: 'r', rows: [{ step: 0, metrics }] }],
      metrics: ['c', 'a', 'missing'],
    });
    expect([...page.matchAll(/<h3>(.*?)<\/h3>/g)].map(([, name]) => name)).toEqual(['c', 'a']);
  });

  it('thins long tables and says so', () => {
    const page = renderReport({ title: 't', runs: [{ name: 'r', rows: rows(Array(1000).fill(1)) }] });
    expect(page).toContain('Every 4th of 1000 rows.');
    expect(page.match(/<th scope="row">/g)!.length).toBe(251);
  });

  it('says that there is nothing to show', () => {
    expect(renderReport({ title: 't', runs: [] })).toContain('No metrics were recorded.');
    expect(renderReport({ title: 't', runs: [{ name: 'r', rows: rows([Number.NaN]) }] })).toContain(
      'No finite values.',
    );
  });

  it('names every bad option at once', () => {
    expect(() => renderReport({ title: '', runs: 1, sample: [] } as never)).toThrow(
      /title[\s\S]*runs[\s\S]*Unrecognized key: "sample"/,
    );
  });
});

describe('lineChart', () => {
  const paths = (values: readonly number[]) =>
    [
      ...lineChart('m', [
        { name: 'r', points: values.map((value, step) => ({ step, value })) },
      ]).html.matchAll(/ d="(.*?)"/g),
    ].map(([, path]) => path!);

  it('leaves gaps where values are not finite', () => {
    expect(paths([1, 2, Number.NaN, 3])[0]!.match(/[ML]/g)).toEqual(['M', 'L', 'M']);
  });

  it('draws long curves faintly, with their running mean', () => {
    expect(paths(Array.from({ length: 41 }, (_, step) => step % 2))).toHaveLength(2);
    expect(paths(Array.from({ length: 40 }, (_, step) => step % 2))).toHaveLength(1);
  });

  it('stays inside its frame for any values', () => {
    fc.assert(
      fc.property(fc.array(fc.double(), { minLength: 1, maxLength: 60 }), (values) => {
        for (const path of paths(values)) {
          for (const [, x, y] of path.matchAll(/[ML](\S+) (\S+?)(?=[ML]|$)/g)) {
            expect(Number(x)).toBeGreaterThanOrEqual(0);
            expect(Number(x)).toBeLessThanOrEqual(440);
            expect(Number(y)).toBeGreaterThanOrEqual(0);
            expect(Number(y)).toBeLessThanOrEqual(236);
          }
        }
      }),
    );
  });
});

describe('ticks', () => {
  it.each([
    [0, 1, 4, [0, 0.5, 1]],
    [0, 119, 5, [0, 50, 100]],
    [-0.3, 0.3, 4, [-0.2, 0, 0.2]],
    [5, 5, 4, [5]],
  ])('cover %d to %d by about %d round numbers', (low, high, count, expected) => {
    expect(ticks(low, high, count)).toEqual(expected);
  });
});

describe('shortNumber', () => {
  it.each([
    [0.98437, '0.9844'],
    [23145, '23.1k'],
    [2_500_000, '2.5e6'],
    [0.00012, '1.2e-4'],
    [-3, '-3'],
  ])('writes %d as %s', (value, text) => expect(shortNumber(value)).toBe(text));
});
