import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';

import { createEngine, type ProgramReference, programUrl } from '../../runtime.ts';
import type { Echo } from '../testing/echo.program.ts';

const program: ProgramReference<Echo> = { url: programUrl(import.meta.url, '../testing/echo.program') };

// A busy machine may stop the thread between two operators.
it('sums the time of each operator, most expensive first, and leaves no files', { retry: 2 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rlp-profile-test-'));
  vi.stubEnv('TMPDIR', folder);
  const engine = await createEngine({ thread: 'inline', threads: 1, profiling: 'on' });
  await engine.createStore({ name: 'policy', parameters: [{ name: 'w', shape: [3] }], slots: ['gradient'] });
  const echo = await engine.start(program, { greeting: 'Hello' });
  await echo.call('double', undefined);
  expect(await engine.profile()).toEqual([{ operator: 'Mul', count: 1, milliseconds: expect.any(Number) }]);
  const [runs] = await Promise.all([echo.call('busy', { milliseconds: 50, products: 8 }), engine.profile()]);
  await echo.call('double', undefined);
  const times = await engine.profile();
  expect(times.map(({ operator }) => operator)).toEqual(['MatMul', 'Mul']);
  expect(times[0]!.count).toBe(8 * runs.length);
  const total = runs.reduce((sum, time) => sum + time, 0);
  expect(times[0]!.milliseconds).toBeGreaterThan(0.5 * total);
  expect(times[0]!.milliseconds).toBeLessThan(total);
  expect(times[1]!.count).toBe(2);
  await engine.close();
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
});

it('times whole runs only, when that is what was asked for', async () => {
  const engine = await createEngine({ thread: 'inline', threads: 1, profiling: 'runs' });
  await engine.createStore({ name: 'policy', parameters: [{ name: 'w', shape: [3] }], slots: ['gradient'] });
  const echo = await engine.start(program, { greeting: 'Hello' });
  await echo.call('double', undefined);
  await echo.call('double', undefined);
  expect(await engine.profile()).toEqual([
    { operator: 'session.run', count: 2, milliseconds: expect.any(Number) },
  ]);
  await engine.close();
});
