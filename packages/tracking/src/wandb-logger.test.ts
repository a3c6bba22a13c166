import { describe, expect, it } from 'vitest';
import { wandbLogger } from './index.ts';

const samples = [
  { task: 't1', prompt: '1+1=', response: '2', reward: 1, components: { exact: 1 } },
  { task: 't2', prompt: '1+2=', response: 'a|b\nc', reward: null, components: { short: 0.5 } },
];
const finding = { rule: 'spread', severity: 'high', message: 'wide', evidence: {}, iteration: 3 } as const;

describe('wandbLogger', () => {
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
