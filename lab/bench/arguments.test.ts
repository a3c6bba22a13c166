import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

function bench(...given: readonly string[]) {
  const node = ['--conditions=@rlp/source', '--import', 'tsx', 'lab/bench.ts'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...node, ...given], {
    cwd: root,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

it('prints what there is on request', () => {
  const { status, stdout } = bench('--help');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^`pnpm bench \[NAME …\]`: speed and memory/);
  expect(stdout).toContain('| `hacks` ');
  expect(stdout).not.toContain('*/');
});

it.each([
  [['--shapes', 'M'], "bench: Unknown option '--shapes'; see pnpm bench --help\n"],
  [
    ['math', '--rounds', '0'],
    'bench: rounds: expected a number of more than 0, got "0"; see pnpm bench --help\n',
  ],
])('answers %j with one sentence', (given, sentence) => {
  expect(bench(...given)).toEqual({ status: 2, stdout: '', stderr: sentence });
});
