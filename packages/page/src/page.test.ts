import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chartFigure,
  contentSecurityPolicy,
  html,
  lineChart,
  renderPage,
  shortNumber,
  summaryList,
  ticks,
} from './index.ts';

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

  it('draws schedules as they are, however long', () => {
    const rate = (step: number) => (step < 20 ? step / 20 : 0.5 + 0.5 * Math.cos((step - 20) / 30));
    const schedule = Array.from({ length: 200 }, (_, step) => rate(step));
    expect(paths(schedule)).toHaveLength(1);
    expect(paths(schedule.map((value, step) => value + (step % 3 === 0 ? 0.1 : 0)))).toHaveLength(2);
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

describe('marks and bands', () => {
  const series = [
    {
      name: 'r',
      points: [0, 10].map((step) => ({ step, value: step })),
      band: [0, 10].map((step) => ({ step, low: -5, high: 20 })),
    },
  ];

  it('stand behind the curves, named for whoever points at them', () => {
    const chart = lineChart('m', series, {
      marks: [
        { from: 4, to: 4, level: 'high', name: 'format_gaming' },
        { from: 2, to: 30, level: 'low', name: '<b>' },
      ],
    }).html;
    expect(chart).toContain('<rect class="alert-high"');
    expect(chart).toContain('<title>format_gaming, step 4</title>');
    expect(chart).toContain('<title>&lt;b&gt;, steps 2 to 30</title>');
    expect(chart.indexOf('<rect')).toBeLessThan(chart.indexOf('class="line"'));
    expect(chart).toContain('<path class="band" d="M52.0 ');
  });

  it('are thinned as curves are', () => {
    const steps = Array.from({ length: 5000 }, (_, step) => step);
    const long = {
      name: 'r',
      points: steps.map((step) => ({ step, value: 0 })),
      band: steps.map((step) => ({ step, low: -1, high: 1 })),
    };
    const [, path] = /class="band" d="(.*?)"/.exec(lineChart('m', [long]).html)!;
    expect(path!.split('L').length).toBeLessThan(1300);
  });

  it('leave out what is not on the chart', () => {
    expect(
      lineChart('m', series, { marks: [{ from: 40, to: 50, level: 'high', name: 'later' }] }).html,
    ).not.toContain('<rect');
  });
});

describe('renderPage', () => {
  it('runs nothing unless it has a script, and then only that one', () => {
    const still = renderPage({ title: 't', body: html`<p>x</p>` });
    expect(still).toContain(
      `content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;; base-uri`,
    );
    expect(still).not.toMatch(/<(script|link|img|iframe|object)|https?:|url\(|@import| on\w+=/i);
    const live = renderPage({ title: 't', body: html``, script: { code: 'run()', nonce: 'n1' } });
    expect(live).toContain('<script nonce="n1">run()</script>');
    expect(contentSecurityPolicy('n1')).toContain("script-src 'nonce-n1'; connect-src 'self'");
    for (const page of [still, live]) expect(page).toContain('form-action &#39;none&#39;');
    expect(contentSecurityPolicy('n1')).toContain("base-uri 'none'; form-action 'none'");
  });

  it('escapes whatever is not HTML yet', () => {
    const nasty = `<script>"'&</script>`;
    const page = renderPage({ title: nasty, lead: nasty, body: html`${summaryList({ [nasty]: nasty })}` });
    expect(page).not.toContain('<script>');
    expect(page.match(/&lt;script&gt;&quot;&#39;&amp;&lt;\/script&gt;/g)).toHaveLength(5);
  });
});

it('a figure with an interval keeps the interval on one line', () => {
  expect(summaryList({ accuracy: '50.0 % (15.0–85.0 %)', model: '(none)' }).html).toContain(
    '<dd>50.0 % <small>(15.0–85.0 %)</small></dd></div><div><dt>model</dt><dd>(none)</dd>',
  );
});

it('charts name whole steps only, and draw zeros at the foot', () => {
  const points = [0, 1, 2, 3].map((step) => ({ step, value: 0 }));
  const chart = lineChart('share', [{ name: 'a', points }]).html;
  const texts = [...chart.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);
  expect(texts).toEqual(['0', '0.2', '0.4', '0.6', '0.8', '1', '0', '1', '2', '3']);
});

it('titles of charts break after the parts of a name', () => {
  const { html: card } = chartFigure('reward_quality/<b>', html`<svg/>`, '0.5');
  expect(card).toContain('<h3>reward_<wbr>quality/<wbr>&lt;b&gt;</h3><span class="latest">last 0.5</span>');
});

describe('ticks', () => {
  it.each([
    [0, 1, 4, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [0, 119, 5, [0, 20, 40, 60, 80, 100]],
    [0, 1.5, 4, [0, 0.5, 1, 1.5]],
    [-0.3, 0.3, 4, [-0.2, 0, 0.2]],
    [5, 5, 4, [5]],
    // 3 · 0.1, 0.6 / 0.1 and 1.1 / 0.1 are not round in floating point.
    [0, 0.6, 6, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]],
    [1.1, 1.6, 5, [1.1, 1.2, 1.3, 1.4, 1.5, 1.6]],
    // 0.07 / 0.01 is above 7.
    [0.07, 0.11, 4, [0.07, 0.08, 0.09, 0.1, 0.11]],
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
