import { nodeBuiltin } from '@rlp/core';
import * as z from 'zod';

/** Schema of {@link ProcessIdentity}. */
export const processIdentitySchema = z.strictObject({
  /** Host name, for messages. */
  host: z.string(),
  /** Eight hexadecimal digits that differ between machines, boots and containers. */
  machine: z.string(),
  pid: z.int().positive(),
  /** Start of the process in clock ticks since boot; 0 where the system does not say. */
  started: z.int().nonnegative(),
});

/** A process, so exactly that one with the same number that was started later is another. */
export type ProcessIdentity = z.output<typeof processIdentitySchema>;

/** Whether two identities are of one process. */
export function isSame(a: Omit<ProcessIdentity, 'host'>, b: Omit<ProcessIdentity, 'host'>): boolean {
  return a.machine === b.machine && a.pid === b.pid && a.started === b.started;
}

const fs = () => nodeBuiltin<typeof import('node:fs')>('node:fs');

let own: ProcessIdentity | undefined;

/** Identity of this process. */
export function ownIdentity(): ProcessIdentity {
  own ??= read();
  return own;
}

function read(): ProcessIdentity {
  const { pid } = nodeBuiltin<typeof import('node:process')>('node:process');
  const host = nodeBuiltin<typeof import('node:os')>('node:os').hostname();
  const boot = tried(() => fs().readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')) ?? '';
  const namespace = tried(() => fs().readlinkSync('/proc/self/ns/pid')) ?? '';
  const machine = nodeBuiltin<typeof import('node:crypto')>('node:crypto')
    .createHash('sha256')
    .update(`${host}\n${boot}\n${namespace}`)
    .digest('hex')
    .slice(0, 8);
  return { host, machine, pid, started: startOf(pid) ?? 0 };
}

/** Whether a process of this machine runs. */
export function isRunning({ pid, started }: ProcessIdentity): boolean {
  const start = startOf(pid);
  if (start !== undefined) return started === 0 || start === started;
  try {
    nodeBuiltin<typeof import('node:process')>('node:process').kill(pid, 0);
    return tried(() => fs().readdirSync('/proc/self')) === undefined;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Start of a process by `/proc`; `undefined` for one that has ended, or without `/proc`. */
function startOf(pid: number): number | undefined {
  const status = tried(() => fs().readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The name in brackets may hold spaces and brackets. The state follows it, and the start is 19 fields later.
  const fields = status?.slice(status.lastIndexOf(')') + 2).split(' ');
  return fields === undefined || fields[0] === 'Z' ? undefined : Number(fields[19]);
}

function tried<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
