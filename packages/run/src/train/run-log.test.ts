import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { Finding, Severity } from '@rlp/core';
import { logRowsFromJsonl, metricRowsFromJsonl } from '@rlp/tracking';
import { afterAll, expect, it } from 'vitest';
import { runFiles } from '../folder/run-files.ts';
import { processLoad } from './process-load.ts';
import { stageLog } from './run-log.ts';

const directory = mkdtempSync(join(tmpdir(), 'run-log-'));
afterAll(() => rmSync(directory, { recursive: true }));

const finding = (rule: string, severity: Severity, component?: string): Finding => ({
  ...{ rule, severity, message: 'm', evidence: {}, component, iteration: 0, responsesSeen: 1 },
  note: { what: '', why: '', example: '', mitigation: [] },
});

it('keeps the load of an iteration that is logged again, and does not show it', async () => {
  const files = runFiles(mkdtempSync(join(directory, 'again-')));
  const shown: string[] = [];
  const stream = new Writable({ write: (chunk, _encoding, done) => done(void shown.push(String(chunk))) });
  const log = stageLog({
    ...{ files, label: 'RL', iterations: 4, offset: 0, startedAt: 3, stream, clock: () => 0 },
  });
  const [load] = Object.keys(processLoad(() => 0)());
  log.log(2, { [load!]: 0.5, 'evaluation/accuracy': 1 });
  log.log(3, {});
  await log.close();
  expect(shown.join('')).toBe('RL 4/4 · ETA 0s\n');
  const [again] = metricRowsFromJsonl(readFileSync(files.metrics, 'utf8'));
  expect(again?.metrics[load!]).toBe(0.5);
});

it('writes findings when they change, and counts the rest', async () => {
  const files = runFiles(directory);
  const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
  const options = { files, label: 'RL', iterations: 200, offset: 100, startedAt: 0, stream, clock: () => 0 };
  const log = stageLog(options);
  for (let step = 0; step < 60; step++) {
    if (step < 10 || step >= 50) log.finding!(step, finding('saturated', 'low', 'format'));
    if (step < 5) log.finding!(step, finding('saturated', step < 3 ? 'low' : 'high', 'length'));
    if (step < 4) log.finding!(step, finding('collapse', 'critical'));
    log.log(step, {});
  }
  await log.close();
  const rows = logRowsFromJsonl(readFileSync(files.notes, 'utf8'));
  const found = rows.flatMap((row) =>
    'finding' in row ? [`${row.step} ${row.finding.rule} ${row.finding.component ?? ''}`.trim()] : [],
  );
  expect(found).toEqual([
    '100 saturated format',
    '100 saturated length',
    '100 collapse',
    '103 saturated length',
    '150 saturated format',
  ]);
  expect(rows.filter((row) => 'note' in row)).toEqual([
    { step: 159, note: "saturated of 'format' was found 18 more times, last in iteration 159" },
    { step: 159, note: "saturated of 'length' was found 3 more times, last in iteration 104" },
    { step: 159, note: 'collapse was found 3 more times, last in iteration 103' },
  ]);
});
