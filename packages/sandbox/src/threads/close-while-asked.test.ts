import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const program = `
  import { createSandbox } from '@rlp/sandbox';
  const sandbox = createSandbox({ threads: 2 });
  await sandbox.call('() => 1', []);
  const asked = [1, 2].map(() => sandbox.call('() => { while (true); }', [], { timeoutMs: 60_000 }).catch(() => 'ended'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  await sandbox.close();
  await Promise.all(asked);
  console.log('closed');
`;

// Node exits with 13 if it has nothing left to do while the program awaits: a thread that ends must keep it alive.
it('close ends threads that work, in a program that has nothing else to do', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      '--conditions=@rlp/source',
      '--import',
      process.env.RLP_REGISTER ?? 'tsx',
      '--input-type=module',
      '-e',
      program,
    ],
    { cwd: fileURLToPath(new URL('../..', import.meta.url)), encoding: 'utf8', timeout: 60_000 },
  );
  expect([status, stdout.trim(), stderr]).toEqual([0, 'closed', '']);
}, 120_000);
