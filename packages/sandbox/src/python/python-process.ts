import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { onAbort, startDeadline } from '@rlp/core';
import type { CodeOutcome } from '../code-runner.ts';

/** A command, its input and its limits. */
export interface ProcessRequest {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Text of standard input. */
  readonly input: string;
  /** Text of file descriptor 3. */
  readonly source: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
  /** Receives file descriptors 4 and 5, which go both ways. Default: the process has none. */
  readonly connect?: ((channel: Duplex, verdict: Duplex) => void) | undefined;
}

/**
 * Time that streams may stay open after a process has ended, in milliseconds. Then the remaining group is
 * killed.
 */
const lingeringMs = 200;

/**
 * Runs a process in a new process group and kills the whole group at the end.
 *
 * Rejects if the process cannot be started, or when the signal aborts.
 */
export async function runProcess(request: ProcessRequest): Promise<CodeOutcome> {
  const { command, env, input, source, timeoutMs, maxOutputBytes, signal } = request;
  signal.throwIfAborted();
  const stdio: StdioOptions = new Array(request.connect ? 6 : 4).fill('pipe');
  const child = spawn(command[0]!, command.slice(1), { env, cwd: '/', detached: true, stdio });
  const end = closed(child, maxOutputBytes);
  // Without a process there may be no streams either, for example if no more files can be opened.
  if (child.pid === undefined) await end;
  let breach: CodeOutcome['status'] | undefined;
  const stop = (why: CodeOutcome['status']) => {
    breach ??= why;
    kill(child);
  };
  const read = reader(child, maxOutputBytes, () => stop('output-too-long'));
  const endDeadline = startDeadline(timeoutMs, () => stop('timed-out'));
  const release = onAbort(signal, () => kill(child));
  const channels: readonly unknown[] = child.stdio.slice(4);
  request.connect?.(channels[0] as Duplex, channels[1] as Duplex);
  write(child.stdin!, input);
  write(child.stdio[3] as NodeJS.WritableStream, source);
  try {
    const { exitCode, by } = await end;
    signal.throwIfAborted();
    const [stdout, stderr] = [read('stdout'), read('stderr')];
    const status = breach ?? statusOf(by, stderr);
    return { status, exitCode: status === 'exited' ? (exitCode ?? 128) : null, stdout, stderr };
  } finally {
    endDeadline();
    release();
  }
}

/** Settles after a process has ended and its streams are closed. Rejects if it cannot be started. */
function closed(child: ChildProcess, maxOutputBytes: number) {
  return new Promise<{ readonly exitCode: number | null; readonly by: NodeJS.Signals | null }>(
    (resolve, reject) => {
      child.on('error', reject);
      child.on('exit', () => {
        kill(child);
        setTimeout(() => closeOnceRead(child, maxOutputBytes), lingeringMs).unref();
      });
      child.on('close', (exitCode, by) => resolve({ exitCode, by }));
    },
  );
}

/** Reads the output of a process, up to `limit` bytes of both streams together. More output calls `onBreach`. */
function reader(child: ChildProcess, limit: number, onBreach: () => void) {
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let bytes = 0;
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]!.on('data', (chunk: Buffer) => {
      chunks[name].push(chunk.subarray(0, Math.max(0, limit - bytes)));
      bytes += chunk.length;
      if (bytes > limit) onBreach();
    });
  }
  return (name: keyof typeof chunks) => Buffer.concat(chunks[name]).toString('utf8');
}

/** Status of a process that ended without being stopped. */
function statusOf(by: NodeJS.Signals | null, stderr: string): CodeOutcome['status'] {
  if (by === 'SIGXCPU') return 'timed-out';
  return by === 'SIGKILL' || /(?:^|\n)MemoryError\s*$/.test(stderr.slice(-100)) ? 'out-of-memory' : 'exited';
}

/** Kills a process and its group. */
function kill(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The process has ended already.
  }
}

/**
 * Closes the streams of an ended process when nothing is left to read. A busy event loop may have delayed
 * this.
 */
function closeOnceRead(child: ChildProcess, maxOutputBytes: number): void {
  const before = bytesRead(child);
  // Data in the pipes is read before an immediate.
  setImmediate(() => {
    const read = bytesRead(child);
    if (read > before && read <= maxOutputBytes) return closeOnceRead(child, maxOutputBytes);
    for (const stream of child.stdio) stream?.destroy();
  });
}

function bytesRead({ stdout, stderr }: ChildProcess): number {
  return (stdout as Socket).bytesRead + (stderr as Socket).bytesRead;
}

/** Writes input and ignores errors, because a process may end before it reads all of its input. */
function write(stream: NodeJS.WritableStream, text: string): void {
  stream.on('error', () => undefined);
  stream.end(text);
}
