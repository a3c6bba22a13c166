import { expect, it } from 'vitest';

import { createEngine, type Engine, programUrl, type RunningProgram } from '../runtime.ts';
import type { Echo } from './testing/echo.program.ts';

const mebibyte = 2 ** 20;

async function createStore(engine: Engine, name: string, size: number): Promise<void> {
  const shape = [(size * mebibyte) / 4];
  const data = new Float32Array(shape[0]!);
  await engine.createStore({ name, parameters: [{ name: 'w', shape }] }, new Map([['w', { shape, data }]]));
}

/** Mebibytes that a call allocates before it waits. */
async function allocatedByCall(echo: RunningProgram<Echo>): Promise<number> {
  const before = process.memoryUsage().arrayBuffers;
  const answer = echo.call('greet', 'world');
  const after = process.memoryUsage().arrayBuffers;
  await answer;
  return Math.round((after - before) / mebibyte);
}

it('gives V8 one reason to collect what was copied into stores, at the next call, if it is much', async () => {
  const engine = await createEngine({ threads: 1 });
  const url = programUrl(import.meta.url, './testing/echo.program');
  const echo = await engine.start<Echo>({ url }, { greeting: 'Hello' });
  await createStore(engine, 'a', 40);
  expect(await allocatedByCall(echo)).toBe(0);
  await createStore(engine, 'b', 24);
  expect(await allocatedByCall(echo)).toBe(128);
  expect(await allocatedByCall(echo)).toBe(0);
  await engine.close();
});
