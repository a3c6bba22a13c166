import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderReport } from './report.ts';

const rows = (values: readonly number[]) =>
  values.map((value, step) => ({ step, metrics: { 'reward/mean': value } }));

/** Tags of a page, without what stands between them and without the places where names may break. */
const tags = (page: string) => page.replaceAll('<wbr>', '').match(/<[a-z!/][^>]*>/gi) ?? [];

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

  it('leaves out what a row does not have, whatever its name', () => {
    const metrics: Readonly<Record<string, number>>[] = [{ constructor: 1 }, { loss: 2 }];
    const page = renderReport({
      title: 't',
      runs: [{ name: 'r', rows: metrics.map((row, step) => ({ step, metrics: row })) }],
    });
    expect(page).toContain('<tr><th scope="row">1</th><td></td><td>2</td></tr>');
    expect(page).toContain('constructor: r from 1 at step 0 to 1 at step 0');
  });

  it('requests nothing and runs nothing', () => {
    const page = renderReport({ title: 't', runs: [{ name: 'r', rows: rows([1, 2]) }] });
    expect(page).toContain(
      `http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;; base`,
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
    expect(page).toContain('1 in 4 of 1000 rows, and the last.');
    expect(page.match(/<th scope="row">/g)!.length).toBe(251);
  });

  it('says that there is nothing to show', () => {
    expect(renderReport({ title: 't', runs: [] })).toContain('No metrics were recorded.');
    expect(renderReport({ title: 't', runs: [{ name: 'r', rows: rows([Number.NaN]) }] })).toContain(
      'No finite values.',
    );
  });

  it('shows figures that are not finite, rather than nothing', () => {
    const page = renderReport({
      title: 't',
      summary: { accuracy: Number.NaN },
      runs: [],
      samples: [{ prompt: 'p', before: '', after: '', rewardBefore: Number.NaN, rewardAfter: -Infinity }],
    });
    expect(page).toContain('<dt>accuracy</dt><dd>NaN</dd>');
    expect(page).toContain('reward -Infinity');
  });

  it('names every bad option at once', () => {
    expect(() => renderReport({ title: '', runs: 1, sample: [] } as never)).toThrow(
      /title[\s\S]*runs[\s\S]*Unrecognized option "sample"/,
    );
  });

  it('says how the history of a run becomes rows', () => {
    const history = [{ 'reward/mean': 0 }, { 'reward/mean': 1 }];
    const runs = (rows: unknown) => ({ title: 't', runs: [{ name: 'GRPO', rows }] }) as never;
    expect(() => renderReport(runs(history))).toThrow(
      'runs.0.rows.0: expected { step, metrics }; of the history of a run, write history.map((metrics, step) => ({ step, metrics }))',
    );
    expect(renderReport(runs(history.map((metrics, step) => ({ step, metrics }))))).toContain('reward/mean');
  });
});
