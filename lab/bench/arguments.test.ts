import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function bench(...given: readonly string[]) {
  const node = ['--conditions=@rlp/source', '--import', 'tsx', 'lab/bench.ts'];
  const child = spawn(process.execPath, [...node, ...given], { cwd: root });
  const texts = [child.stdout, child.stderr].map(async (stream) => (await stream.toArray()).join(''));
  const [status] = (await once(child, 'close')) as [number];
  const [stdout, stderr] = await Promise.all(texts);
  return { status, stdout, stderr };
}

it('answers wrong arguments with one sentence', async () => {
  const stderr = "bench: Unknown option '--shapes'; see pnpm bench --help\n";
  expect(await bench('--shapes', 'M')).toEqual({ status: 2, stdout: '', stderr });
});
