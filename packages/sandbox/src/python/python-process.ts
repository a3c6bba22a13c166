import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { onAbort } from '@rlp/core';
import type { CodeOutcome } from '../code-runner.ts';

/** A command, what it reads, and its limits. */
export interface ProcessRequest {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What it reads from standard input. */
  readonly input: string;
  /** What it reads from file descriptor 3. */
  readonly source: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
}

/** Milliseconds that the streams of a process may stay open once it has ended: what it left behind is killed then. */
const lingeringMs = 200;

/** Runs a process in a new process group and kills the whole group. Rejects if it cannot be started, and when the signal aborts. */
export async function runProcess(request: ProcessRequest): Promise<CodeOutcome> {
  const { command, env, input, source, timeoutMs, maxOutputBytes, signal } = request;
  signal.throwIfAborted();
  const stdio: StdioOptions = ['pipe', 'pipe', 'pipe', 'pipe'];
  const child = spawn(command[0]!, command.slice(1), { env, cwd: '/', detached: true, stdio });
  const end = closed(child, maxOutputBytes);
  // Without a process there may be no streams either, as where no file can be opened any more.
  if (child.pid === undefined) await end;
  let breach: CodeOutcome['status'] | undefined;
  const stop = (why: CodeOutcome['status']) => {
    breach ??= why;
    kill(child);
  };
  const read = reader(child, maxOutputBytes, () => stop('output-too-long'));
  const timer = setTimeout(() => stop('timed-out'), timeoutMs);
  const release = onAbort(signal, () => kill(child));
  write(child.stdin!, input);
  write(child.stdio[3] as NodeJS.WritableStream, source);
  try {
    const { exitCode, by } = await end;
    signal.throwIfAborted();
    const [stdout, stderr] = [read('stdout'), read('stderr')];
    const status = breach ?? statusOf(by, stderr);
    return { status, exitCode: status === 'exited' ? (exitCode ?? 128) : null, stdout, stderr };
  } finally {
    clearTimeout(timer);
    release();
  }
}

/** Settles once a process has ended and its streams are closed; rejects where it cannot be started. */
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

/** Reads what a process prints, up to `limit` bytes of both streams together; more is a breach. */
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

/** What ended a process that we did not stop. */
function statusOf(by: NodeJS.Signals | null, stderr: string): CodeOutcome['status'] {
  if (by === 'SIGXCPU') return 'timed-out';
  return by === 'SIGKILL' || /(?:^|\n)MemoryError\s*$/.test(stderr.slice(-100)) ? 'out-of-memory' : 'exited';
}

/** Kills a process and all of its group. */
function kill(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}

/** Closes the streams of a process as soon as nothing is left to read: we may have been too busy to do it before. */
function closeOnceRead(child: ChildProcess, maxOutputBytes: number): void {
  const before = bytesRead(child);
  // What waits in the pipes is read before an immediate.
  setImmediate(() => {
    const read = bytesRead(child);
    if (read > before && read <= maxOutputBytes) return closeOnceRead(child, maxOutputBytes);
    for (const stream of child.stdio) stream?.destroy();
  });
}

function bytesRead({ stdout, stderr }: ChildProcess): number {
  return (stdout as Socket).bytesRead + (stderr as Socket).bytesRead;
}

/** A process need not read its input to the end. */
function write(stream: NodeJS.WritableStream, text: string): void {
  stream.on('error', () => undefined);
  stream.end(text);
}
