import type { RandomStream } from '@rlp/core';
import type { FileStatus, FileSystem, OpenFile } from '../store/file-system.ts';
import type { StoreHost } from '../store/host.ts';

interface FileNode {
  readonly kind: 'file';
  live: Uint8Array;
  /** What a power loss leaves. */
  durable: Uint8Array;
  mtimeMs: number;
}

interface DirectoryNode {
  readonly kind: 'directory';
  live: Map<string, Node>;
  /** States since the last flush, the flushed one first. A power loss leaves one of them. */
  states: ReadonlyMap<string, Node>[];
  mtimeMs: number;
}

type Node = FileNode | DirectoryNode;

/**
 * What happens at an operation.
 *
 * - `kill-before`, `kill-after`: the process ends before or after the operation.
 * - `torn-write`: half of the bytes are written, then the process ends.
 * - `short-write`: half of the bytes are written, then the disk is full.
 * - `disk-full`: this operation and all that need space fail from here on.
 * - `io-error`: this operation fails.
 * - `power-loss`: the process ends, and what was not flushed is lost or kept at random.
 * - `power-loss-all`: the process ends, and everything that was not flushed is lost.
 */
export type Fault =
  | 'kill-before'
  | 'kill-after'
  | 'torn-write'
  | 'short-write'
  | 'disk-full'
  | 'io-error'
  | 'power-loss'
  | 'power-loss-all';

const needsSpace = new Set(['mkdir', 'open wx', 'write', 'rename']);

interface SimulatedProcess {
  readonly pid: number;
  isDead: boolean;
}

/**
 * A disk in memory that knows what was flushed, and the processes that use it.
 *
 * Each file operation is one point where a fault can be injected. Paths are absolute with `/`.
 */
export class SimulatedDisk {
  /** Names of the operations so far, such as `rename /run/a /run/b`. */
  readonly log: string[] = [];
  /** Fault to inject at the operation with this number, counted from 0 in {@link SimulatedDisk.log}. */
  fault: { readonly at: number; readonly kind: Fault } | undefined;
  /** Called after every operation that succeeded. */
  onOperation: (() => void) | undefined;
  /** Whether operations that need space fail. */
  isFull = false;
  readonly #root = directoryNode();
  readonly #processes = new Map<number, SimulatedProcess>();
  readonly #stream: RandomStream;
  #unique = 0;
  #now = 1_800_000_000_000;

  /** @param stream - Draws what a power loss leaves. */
  constructor(stream: RandomStream) {
    this.#stream = stream;
  }

  /** Starts a process and ends all before it. */
  startProcess(): StoreHost {
    for (const process of this.#processes.values()) process.isDead = true;
    return this.startSecondProcess();
  }

  /** Starts a process beside those that run. */
  startSecondProcess(): StoreHost {
    const process = { pid: this.#processes.size + 1, isDead: false };
    this.#processes.set(process.pid, process);
    return {
      files: this.#fileSystem(process),
      self: { host: 'simulated', machine: '00000000', pid: process.pid, started: 1 },
      liveness: ({ machine, pid }) => {
        if (machine !== '00000000') return 'unknown';
        return this.#processes.get(pid)?.isDead === false ? 'alive' : 'dead';
      },
      now: () => this.#now,
      unique: () => String(++this.#unique).padStart(8, '0'),
      every: () => () => undefined,
      renameAtExit: () => () => undefined,
    };
  }

  /** Lets time pass. */
  advance(ms: number): void {
    this.#now += ms;
  }

  /** Paths of all files and directories, sorted. Not an operation. */
  paths(): string[] {
    const found: string[] = [];
    const visit = (node: Node, path: string) => {
      if (node.kind === 'file') return;
      for (const [name, child] of node.live) {
        found.push(`${path}/${name}`);
        visit(child, `${path}/${name}`);
      }
    };
    visit(this.#root, '');
    return found.sort();
  }

  /** Bytes of a file. They can be changed in place. Not an operation. */
  bytesOf(path: string): Uint8Array {
    return this.#file(path).live;
  }

  #fileSystem(process: SimulatedProcess): FileSystem {
    const run = <Value>(name: string, path: string, action: () => Value) =>
      this.#perform(process, name, path, action);
    return {
      lstat: async (path) => run('lstat', path, () => statusOf(this.#node(path))),
      readdir: async (path) => run('readdir', path, () => [...this.#directory(path).live.keys()]),
      mkdir: async (path) =>
        run('mkdir', path, () => this.#link(path, directoryNode(), { onlyIf: 'absent' })),
      rmdir: async (path) =>
        run('rmdir', path, () => {
          if (this.#directory(path).live.size > 0) throw systemError('ENOTEMPTY', 'rmdir', path);
          this.#unlink(path);
        }),
      unlink: async (path) =>
        run('unlink', path, () => {
          this.#file(path);
          this.#unlink(path);
        }),
      rename: async (from, to) => run('rename', `${from} ${to}`, () => this.#rename(from, to)),
      open: async (path, flags) => run(`open ${flags}`, path, () => this.#open(process, path, flags)),
    };
  }

  #open(process: SimulatedProcess, path: string, flags: 'r' | 'r+' | 'wx'): OpenFile {
    if (flags === 'wx') {
      const file: FileNode = {
        kind: 'file',
        live: new Uint8Array(),
        durable: new Uint8Array(),
        mtimeMs: this.#now,
      };
      this.#link(path, file, { onlyIf: 'absent' });
    }
    const node = this.#node(path);
    let position = 0;
    const run = <Value>(name: string, action: () => Value) => this.#perform(process, name, path, action);
    return {
      read: async (buffer, offset, length) =>
        run('read', () => {
          if (node.kind === 'directory') throw systemError('EISDIR', 'read', path);
          const piece = node.live.subarray(position, position + length);
          buffer.set(piece, offset);
          position += piece.length;
          return { bytesRead: piece.length };
        }),
      write: async (bytes, offset, length) => {
        const put = (count: number) => {
          if (node.kind === 'directory') throw systemError('EISDIR', 'write', path);
          const grown = new Uint8Array(Math.max(node.live.length, position + count));
          grown.set(node.live);
          grown.set(bytes.subarray(offset, offset + count), position);
          node.live = grown;
          node.mtimeMs = this.#now;
          position += count;
          return { bytesWritten: count };
        };
        return this.#perform(
          process,
          'write',
          path,
          () => put(length),
          () => void put(Math.floor(length / 2)),
        );
      },
      sync: async () =>
        run('sync', () => {
          if (node.kind === 'file') node.durable = node.live;
          else node.states = [new Map(node.live)];
        }),
      close: async () => run('close', () => undefined),
    };
  }

  #perform<Value>(
    process: SimulatedProcess,
    name: string,
    path: string,
    action: () => Value,
    half?: () => void,
  ): Value {
    if (process.isDead) throw new Error('the process was killed');
    const at = this.log.push(`${name} ${path}`) - 1;
    this.#now += 1;
    const kind = this.fault?.at === at ? this.fault.kind : undefined;
    if (kind === 'torn-write' || kind === 'short-write') half?.();
    if (kind === 'kill-before' || kind === 'torn-write') return this.#kill(process);
    if (kind === 'io-error') throw systemError('EIO', name, path);
    if (kind === 'disk-full' || kind === 'short-write') this.isFull = true;
    if (this.isFull && needsSpace.has(name)) throw systemError('ENOSPC', name, path);
    const value = action();
    if (kind === 'power-loss' || kind === 'power-loss-all') this.#losePower(this.#root, kind);
    if (kind?.startsWith('power-loss') || kind === 'kill-after') return this.#kill(process);
    this.onOperation?.();
    return value;
  }

  #kill(process: SimulatedProcess): never {
    process.isDead = true;
    throw new Error('the process was killed');
  }

  #losePower(node: Node, kind: 'power-loss' | 'power-loss-all'): void {
    const pick = (count: number) =>
      kind === 'power-loss-all' ? 0 : Math.floor(this.#stream.uniform() * count);
    if (node.kind === 'file') {
      if (node.live === node.durable) return;
      const kept = pick(3);
      if (kept === 0) node.live = node.durable;
      // The file system knows the new length, but half of the blocks were never written.
      if (kept === 1) node.live = node.live.map((byte, index) => (index < node.live.length / 2 ? byte : 0));
      node.durable = node.live;
      return;
    }
    node.live = new Map(node.states[pick(node.states.length)]);
    node.states = [new Map(node.live)];
    for (const child of node.live.values()) this.#losePower(child, kind);
  }

  #rename(from: string, to: string): void {
    const node = this.#node(from);
    const target = this.#lookup(to);
    if (target?.kind === 'directory' && target.live.size > 0) throw systemError('ENOTEMPTY', 'rename', to);
    if (target && target.kind !== node.kind) throw systemError('ENOTDIR', 'rename', to);
    const [source, name] = this.#parent(from);
    const [destination, newName] = this.#parent(to);
    if (source !== destination) throw systemError('EXDEV', 'rename', from);
    source.live.delete(name);
    source.live.set(newName, node);
    changed(source);
  }

  #link(path: string, node: Node, _: { readonly onlyIf: 'absent' }): void {
    const [parent, name] = this.#parent(path);
    if (parent.live.has(name)) throw systemError('EEXIST', 'open', path);
    parent.live.set(name, node);
    changed(parent);
  }

  #unlink(path: string): void {
    const [parent, name] = this.#parent(path);
    parent.live.delete(name);
    changed(parent);
  }

  #parent(path: string): [DirectoryNode, string] {
    const end = path.lastIndexOf('/');
    return [this.#directory(path.slice(0, end)), path.slice(end + 1)];
  }

  #directory(path: string): DirectoryNode {
    const node = this.#node(path);
    if (node.kind === 'directory') return node;
    throw systemError('ENOTDIR', 'open', path);
  }

  #file(path: string): FileNode {
    const node = this.#node(path);
    if (node.kind === 'file') return node;
    throw systemError('EISDIR', 'open', path);
  }

  #node(path: string): Node {
    const node = this.#lookup(path);
    if (node === undefined) throw systemError('ENOENT', 'open', path);
    return node;
  }

  #lookup(path: string): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const name of path.split('/').filter((part) => part !== '')) {
      if (node?.kind !== 'directory') return undefined;
      node = node.live.get(name);
    }
    return node;
  }
}

function directoryNode(): DirectoryNode {
  return { kind: 'directory', live: new Map(), states: [new Map()], mtimeMs: 0 };
}

function changed(directory: DirectoryNode): void {
  directory.states.push(new Map(directory.live));
}

function statusOf(node: Node): FileStatus {
  const size = node.kind === 'file' ? node.live.length : 0;
  return { isDirectory: () => node.kind === 'directory', size, mtimeMs: node.mtimeMs };
}

/** An error of the system, which has no stack. A table of crash points makes very many. */
function systemError(code: string, syscall: string, path: string): Error {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const error = Object.assign(new Error(`${code}: ${syscall} '${path}'`), { code, syscall, path });
  Error.stackTraceLimit = limit;
  return error;
}
