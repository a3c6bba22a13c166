import { describe, expect, it } from 'vitest';
import { wandbLogger } from './index.ts';

const samples = [
  { task: 't1', prompt: '1+1=', response: '2', reward: 1, components: { exact: 1 } },
  { task: 't2', prompt: '1+2=', response: 'a|b\nc', reward: null, components: { short: 0.5 } },
];
const finding = { rule: 'spread', severity: 'high', message: 'wide', evidence: {}, iteration: 3 } as const;

describe('wandbLogger', () => {
  it('logs recent findings as blocks of HTML if the client has them', () => {
    const logged: unknown[] = [];
    const run = { log: (data: object) => logged.push(data) };
    const logger = wandbLogger(run, { html: (markup) => ({ markup }) });
    const note = { what: '', why: '', mitigation: ['a < b'] };
    for (let step = 0; step < 12; step++) logger.finding?.(step, { ...finding, message: '<b>', note });
    const { markup } = (logged.at(-1) as { findings: { markup: string } }).findings;
    expect(markup.split('<section>')).toHaveLength(11);
    expect(markup).toContain(
      '<section><h4>high spread, step 11</h4><p>&lt;b></p><ul><li>a &lt; b</li></ul></section>',
    );
  });

  it('logs notes, tables and findings, and raises alerts', async () => {
    const logged: unknown[] = [];
    const run = {
      log: (data: object, { step }: { step: number }) => logged.push([step, data]),
      alert: (alert: object) => logged.push(alert),
    };
    const logger = wandbLogger(run, {
      table: (columns, data) => ({ columns: columns.length, rows: data.length }),
    });
    logger.note?.(3, 'one');
    logger.samples?.(3, samples);
    logger.finding?.(3, finding);
    await logger.close();
    expect(logged).toEqual([
      [3, { notes: 'one' }],
      [3, { samples: { columns: 6, rows: 2 } }],
      [3, { findings: 'high spread: wide' }],
      { title: 'spread', text: 'wide', level: 'ERROR' },
    ]);
  });
});
