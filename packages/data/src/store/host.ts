import { nodeBuiltin } from '@rlp/core';
import type { FileSystem } from './file-system.ts';
import { isRunning, ownIdentity, type ProcessIdentity } from './process-identity.ts';

/** Surroundings of the store. {@link nodeHost} is the default; tests pass their own. */
export interface StoreHost {
  readonly files: FileSystem;
  /** This process. */
  readonly self: ProcessIdentity;
  /** Whether a process still runs. `'unknown'` for a process of another machine or container. */
  liveness(process: ProcessIdentity): 'alive' | 'dead' | 'unknown';
  /** Wall clock in milliseconds since 1970. */
  now(): number;
  /** Eight random hexadecimal digits. */
  unique(): string;
  /** Calls `beat` at an interval until the returned function is called. Does not keep the process alive. */
  every(intervalMs: number, beat: () => void): () => void;
  /** Renames a path when the process exits, until the returned function is called. */
  renameAtExit(from: string, to: string): () => void;
}

let shared: StoreHost | undefined;

/** The file system and the processes of this machine. */
export function nodeHost(): StoreHost {
  shared ??= {
    files: nodeBuiltin<typeof import('node:fs/promises')>('node:fs/promises'),
    self: ownIdentity(),
    liveness: (process) => {
      if (process.machine !== ownIdentity().machine) return 'unknown';
      return isRunning(process) ? 'alive' : 'dead';
    },
    now: Date.now,
    unique: () => crypto.randomUUID().slice(0, 8),
    every: (intervalMs, beat) => {
      const timer = setInterval(beat, intervalMs);
      timer.unref();
      return () => clearInterval(timer);
    },
    renameAtExit,
  };
  return shared;
}

/** Renames to do when the process exits, by source. */
let renames: Map<string, string> | undefined;

function renameAtExit(from: string, to: string): () => void {
  if (renames === undefined) {
    renames = new Map();
    nodeBuiltin<NodeJS.Process>('node:process').once('exit', doRenames);
  }
  renames.set(from, to);
  return () => renames?.delete(from);
}

function doRenames(): void {
  const { renameSync } = nodeBuiltin<typeof import('node:fs')>('node:fs');
  for (const [from, to] of renames ?? []) {
    try {
      renameSync(from, to);
    } catch {
      // The directory is gone. The process ends either way.
    }
  }
}
