import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const directory = mkdtempSync(join(tmpdir(), 'cli-process-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** The bundle that `scripts/thread-bundles.ts` made. */
const program = join(process.env.RLP_THREADS ?? '', 'packages/cli/bin/rlp.js');
const rows = join(directory, 'rows.jsonl');
writeFileSync(rows, '{"question":"1+1=","answer":2}\n{"question":"1+2=","answer":3}\n');

it('trains to its end although nobody reads its progress any more', async () => {
  const model = fileURLToPath(new URL('../../../examples/models/stories260k', import.meta.url));
  const out = join(directory, 'run');
  const options = ['--sft.updates=2', '--evaluation=none', '--engine.threads=1'];
  const train = ['train', rows, '--model', model, '--out', out, ...options];
  const child = spawn(process.execPath, [program, ...train], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.once('data', () => child.stderr.destroy());
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(JSON.parse(readFileSync(join(out, 'run.json'), 'utf8'))).toMatchObject({ status: 'finished' });
}, 60_000);

it.skipIf(!existsSync('/dev/full'))(
  'says that its output could not be written',
  async () => {
    const full = openSync('/dev/full', 'w');
    const stdio = ['ignore', full, 'pipe'] as const;
    const child = spawn(process.execPath, [program, 'data', 'preview', rows], { stdio: [...stdio] });
    closeSync(full);
    let said = '';
    child.stderr!.on('data', (text: Buffer) => {
      said += text;
    });
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(said).toMatch(/^rlp: the output could not be written: ENOSPC/);
  },
  60_000,
);
