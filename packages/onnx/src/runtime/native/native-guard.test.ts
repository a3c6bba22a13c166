import { EngineError } from '@rlp/core';
import { describe, expect, it } from 'vitest';

import { programUrl } from '../../runtime.ts';
import { runScript } from '../testing/run-script.ts';
import { NativeGuard } from './native-guard.ts';

describe('NativeGuard', () => {
  it('waits for native calls under way, and allows no more', async () => {
    const guard = new NativeGuard();
    const elsewhere = new NativeGuard(guard.memory);
    let finish: (value: string) => void = () => {};
    const call = guard.during(() => new Promise<string>((resolve) => (finish = resolve)));
    expect(await elsewhere.quiet(20)).toBe('busy');
    elsewhere.quietNow(20);
    await expect(guard.during(() => 'more')).rejects.toThrow(EngineError);
    expect(() => guard.now(() => 'more')).toThrow(EngineError);
    setTimeout(() => finish('done'), 20);
    expect(await elsewhere.quiet(10_000)).toBe('quiet');
    expect(await call).toBe('done');
    elsewhere.quietNow(10_000);
  });
});

const script = `
  import { createEngine } from ${JSON.stringify(programUrl(import.meta.url, '../../runtime').href)};
  const url = new URL(${JSON.stringify(programUrl(import.meta.url, '../testing/echo.program').href)});
  const computing = async (closeMs) => {
    const engine = await createEngine({ threads: 1, timeouts: { closeMs } });
    const echo = await engine.start({ url }, { greeting: 'Hello' });
    const busy = echo.call('busy', { milliseconds: 1000, products: 60 }).catch(({ message }) => console.log(message));
    await new Promise((resolve) => setTimeout(resolve, 250));
    return { engine, busy };
  };
  const { engine, busy } = await computing(40);
  await engine.close();
  await busy;
  console.log('closed');
  await computing(5000);
  console.log('exit');
  process.exit(0);
`;

it('a process can close an engine that is computing, with little patience, and exit beside one', async () => {
  const expected = { stdout: 'the engine was closed; create another one\nclosed\nexit\n', stderr: '' };
  expect(await runScript(script)).toMatchObject(expected);
});
