import { expect, it } from 'vitest';
import { availableMemory, type MachineMemory } from './available-memory.ts';

const machine = (files: Readonly<Record<string, string>>, platform = 'linux'): MachineMemory => ({
  platform,
  freemem: () => 8000,
  totalmem: () => 16000,
  read: (path) => {
    const text = files[path];
    if (text === undefined) throw new Error(`ENOENT ${path}`);
    return text;
  },
});
const version2 = (limit: string, usage: string, cache = 'anon 5\nfile 100\n') => ({
  '/sys/fs/cgroup/memory.max': limit,
  '/sys/fs/cgroup/memory.current': usage,
  '/sys/fs/cgroup/memory.stat': cache,
});

it.each([
  ['a machine without control groups', {}, 8000],
  ['a container without a limit', version2('max\n', '700\n'), 8000],
  ['a container with a limit, whose cached files do not count', version2('2000\n', '700\n'), 1400],
  ['a container with a limit above the machine', version2('90000\n', '700\n'), 8000],
  ['a container above its limit', version2('500\n', '700\n'), 0],
  ['statistics that cannot be read', version2('2000\n', '700\n', ''), 1300],
  [
    'a container of the first version',
    {
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '3000\n',
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': '1000\n',
      '/sys/fs/cgroup/memory/memory.stat': 'cache 1\ntotal_cache 500\n',
    },
    2500,
  ],
])('reads %s', (_, files, expected) => {
  expect(availableMemory(machine(files))).toBe(expected);
});

it('takes all memory of other systems, whose figures are too low', () => {
  expect(availableMemory(machine(version2('10', '5'), 'darwin'))).toBe(16000);
});

it('reads this machine', () => {
  expect(availableMemory()).toBeGreaterThan(2 ** 20);
});
