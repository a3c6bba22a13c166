import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { nodeHost } from './host.ts';

it('renames at the exit of the process what is still to be renamed, whatever is gone', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rlp-host-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const before = new Set(process.listeners('exit'));
  const undo = ['gone', 'kept', 'left', 'last'].map((name) => {
    if (name !== 'gone') writeFileSync(join(directory, name), name);
    return nodeHost().renameAtExit(join(directory, name), join(directory, `${name}-renamed`));
  });
  undo[1]!();
  const own = process.listeners('exit').find((listener) => listener.name === 'doRenames');
  expect(process.listeners('exit').filter((listener) => !before.has(listener)).length).toBeLessThanOrEqual(1);
  (own as () => void)();
  expect(
    ['gone', 'kept', 'left', 'last'].map((name) => existsSync(join(directory, `${name}-renamed`))),
  ).toEqual([...[false, false, true, true]]);
  expect(existsSync(join(directory, 'kept'))).toBe(true);
  for (const each of undo) each();
});

it('is one for the process, and knows the time', () => {
  expect(nodeHost()).toBe(nodeHost());
  expect(Math.abs(nodeHost().now() - Date.now())).toBeLessThan(1000);
});
