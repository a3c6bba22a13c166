import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { twoWriters } from './two-writers.ts';

it('two processes that save to one directory, one of them killed now and then, mix nothing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rlp-writers-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const outcome = await twoWriters(directory, { saves: 20, killEveryMs: 4000 });
  console.log(JSON.stringify(outcome));
  expect(outcome).toMatchObject({ mixed: 0, problems: [] });
  expect(Math.min(...outcome.saves)).toBeGreaterThanOrEqual(20);
}, 120_000);
