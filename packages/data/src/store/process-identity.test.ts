import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { nodeHost } from './host.ts';
import { isRunning, isSame, ownIdentity, processIdentitySchema } from './process-identity.ts';

it('is that of this process, which runs', () => {
  const own = ownIdentity();
  expect(processIdentitySchema.parse(own)).toEqual(own);
  expect(own).toMatchObject({
    host: hostname(),
    pid: process.pid,
    machine: expect.stringMatching(/^[\da-f]{8}$/),
  });
  expect(ownIdentity()).toBe(own);
  expect(isRunning(own)).toBe(true);
});

it.skipIf(process.platform !== 'linux')('tells a process from a later one with its number', () => {
  const own = ownIdentity();
  expect(own.started).toBeGreaterThan(0);
  expect(isRunning({ ...own, started: own.started - 1 })).toBe(false);
  expect(isRunning({ ...own, started: 0 })).toBe(true);
});

it.skipIf(process.platform !== 'linux')(
  'has a machine that is a host, a boot and a space of process numbers',
  () => {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
    const parts = [hostname(), boot, readlinkSync('/proc/self/ns/pid')];
    const sum = createHash('sha256').update(parts.join('\n')).digest('hex');
    expect(ownIdentity().machine).toBe(sum.slice(0, 8));
  },
);

it('is the same by machine, number and start', () => {
  const own = ownIdentity();
  expect(isSame(own, { ...own })).toBe(true);
  for (const change of [{ machine: '00000000' }, { pid: own.pid + 1 }, { started: own.started + 1 }]) {
    expect(isSame(own, { ...own, ...change })).toBe(false);
  }
});

it.skipIf(process.platform !== 'linux')('does not run if it has ended and nobody has looked', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const ended = once(child, 'exit');
  const identity = { ...ownIdentity(), pid: child.pid!, started: 0 };
  expect(isRunning(identity)).toBe(true);
  child.kill('SIGKILL');
  // This process hears of it in the next turn only.
  while (!/^State:\s+Z/m.test(readFileSync(`/proc/${child.pid}/status`, 'utf8')));
  expect(isRunning(identity)).toBe(false);
  await ended;
});

it('is that of a process that has ended', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  const pid = child.pid!;
  await once(child, 'exit');
  const ended = { ...ownIdentity(), pid, started: 0 };
  expect(isRunning(ended)).toBe(false);
  expect(nodeHost().liveness(ended)).toBe('dead');
  expect(nodeHost().liveness(ownIdentity())).toBe('alive');
  expect(nodeHost().liveness({ ...ended, machine: 'ffffffff' })).toBe('unknown');
});

it('the host of Node draws names, and stops beating when told', async () => {
  const host = nodeHost();
  expect(host.unique()).toMatch(/^[\da-f]{8}$/);
  expect(host.unique()).not.toBe(host.unique());
  let beats = 0;
  const stop = host.every(1, () => {
    beats += 1;
  });
  await expect.poll(() => beats).toBeGreaterThan(1);
  stop();
  const before = beats;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(beats).toBe(before);
});
