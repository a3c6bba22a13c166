import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { twoWriters } from './two-writers.ts';

const saves = process.env.RLP_SLOW_TESTS ? 20 : 8;

it('two processes that save to one directory, one of them killed now and then, mix nothing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rlp-writers-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const outcome = await twoWriters(directory, { saves, killEveryMs: 1200 });
  console.log(JSON.stringify(outcome));
  expect(outcome).toMatchObject({ mixed: 0, problems: [] });
  expect(outcome.kills).toBeGreaterThan(0);
  expect(Math.min(...outcome.saves)).toBeGreaterThanOrEqual(saves);
}, 120_000);
