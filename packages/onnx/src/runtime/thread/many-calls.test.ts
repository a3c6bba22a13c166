import { expect, it, onTestFinished } from 'vitest';

import { createEngine, type ProgramReference, programUrl } from '../../runtime.ts';
import type { Echo } from '../testing/echo.program.ts';

const program: ProgramReference<Echo> = { url: programUrl(import.meta.url, '../testing/echo.program') };

it('takes a thousand concurrent calls with one signal: no warning, one abort ends them all', async () => {
  const warnings: Error[] = [];
  const collect = (warning: Error) => void warnings.push(warning);
  process.on('warning', collect);
  const engine = await createEngine({ thread: 'inline', threads: 1 });
  onTestFinished(async () => {
    process.off('warning', collect);
    await engine.close();
  });
  const echo = await engine.start(program, { greeting: 'Hello' });
  const { signal } = new AbortController();
  const greetings = Array.from({ length: 1000 }, (_, n) => echo.call('greet', `${n}`, { signal }));
  expect((await Promise.all(greetings)).at(-1)).toBe('Hello, 999');

  const controller = new AbortController();
  const hanging = Array.from({ length: 1000 }, () =>
    echo.call('hang', undefined, { signal: controller.signal }),
  );
  const settled = Promise.allSettled(hanging);
  const reason = new Error('enough');
  controller.abort(reason);
  expect(new Set((await settled).map((outcome) => outcome.status === 'rejected' && outcome.reason))).toEqual(
    new Set([reason]),
  );
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});
