import { nodeBuiltin } from '@rlp/core';

/** What {@link availableMemory} asks the machine. */
export interface MachineMemory {
  readonly platform: string;
  readonly freemem: () => number;
  readonly totalmem: () => number;
  /** Text of a file. Throws if there is none. */
  readonly read: (path: string) => string;
}

/** The machine that Node runs on. */
function thisMachine(): MachineMemory {
  const { platform, freemem, totalmem } = nodeBuiltin<typeof import('node:os')>('node:os');
  const { readFileSync } = nodeBuiltin<typeof import('node:fs')>('node:fs');
  return { platform: platform(), freemem, totalmem, read: (path) => readFileSync(path, 'utf8') };
}

/** Limit, usage and statistics of a control group, with the name of the file cache in the statistics. */
const controlGroups = [
  ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory.current', '/sys/fs/cgroup/memory.stat', 'file'],
  [
    '/sys/fs/cgroup/memory/memory.limit_in_bytes',
    '/sys/fs/cgroup/memory/memory.usage_in_bytes',
    '/sys/fs/cgroup/memory/memory.stat',
    'total_cache',
  ],
] as const;

/**
 * Bytes that this process can still take: what the machine has left, or the limit of its container if that is less.
 *
 * Counts memory that the system gives up on demand, such as cached files. Other systems than Linux report too little free memory, so
 * all of the machine's memory counts there.
 */
export function availableMemory(machine: MachineMemory = thisMachine()): number {
  if (machine.platform !== 'linux') return machine.totalmem();
  const left = controlGroups.map((paths) => leftInGroup(machine, paths));
  return Math.max(0, Math.min(machine.freemem(), ...left));
}

/** Bytes left in a control group. `Infinity` without a limit. */
function leftInGroup(
  { read }: MachineMemory,
  [limitFile, usageFile, statisticsFile, cacheName]: (typeof controlGroups)[number],
): number {
  try {
    const [limit, usage] = [Number(read(limitFile)), Number(read(usageFile))];
    const cache = new RegExp(`^${cacheName} (\\d+)$`, 'm').exec(read(statisticsFile))?.[1];
    const left = limit - usage + Number(cache ?? 0);
    return Number.isFinite(left) ? left : Infinity;
  } catch {
    return Infinity;
  }
}
