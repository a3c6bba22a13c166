import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { EngineError, longestTimerMs, TimeoutError } from '@rlp/core';

import type { Channel, FromEngine, ToEngine } from '../channel.ts';
import { guardExit, NativeGuard } from '../native/native-guard.ts';
import { nodePlatform } from '../native/node-platform.ts';
import { type EngineOptions, type ResolvedEngineOptions, resolveEngineOptions } from '../options.ts';
import { isTypeScript } from '../program-url.ts';
import type { Engine } from '../protocol.ts';
import { connect, openInline } from './open-inline.ts';
import { RemoteEngine } from './remote-engine.ts';

/** Location of the thread's code: its entry, and a loader module if the entry is TypeScript. */
export interface WorkerEntry {
  readonly entry: URL;
  readonly sourceBootstrap: URL;
}

/** Data that a worker starts with. */
export interface WorkerData {
  readonly entry: string;
  readonly options: ResolvedEngineOptions;
  /** Shared memory of the thread's {@link NativeGuard}. */
  readonly guard: SharedArrayBuffer;
}

const warned = new Set<string>();

/** Shows an engine's note as a process warning, the first time it occurs. */
function warnOnce(note: string | undefined): void {
  if (note === undefined || warned.has(note)) return;
  warned.add(note);
  process.emitWarning(note, { type: 'RlpWarning', code: 'RLP_ONNX_PUBLIC_API' });
}

/** Starts an engine; see `createEngine`. */
export async function openEngine(options: EngineOptions, worker: WorkerEntry): Promise<Engine> {
  const resolved = resolveEngineOptions(options, availableParallelism());
  keepTelemetryOff();
  if (resolved.thread === 'worker') return openWorker(resolved, worker);
  return openInline(resolved, { platform: nodePlatform(), onNote: warnOnce });
}

/**
 * Turns off telemetry, unless the variable is set already.
 *
 * From version 1.29, the Linux build of ONNX Runtime reports sessions to its vendor by default. The variable
 * must be set before it loads. Only the main thread can set a variable for native code.
 */
function keepTelemetryOff(): void {
  process.env.ORT_DISABLE_TELEMETRY ??= '1';
}

async function openWorker(
  options: ResolvedEngineOptions,
  { entry, sourceBootstrap }: WorkerEntry,
): Promise<Engine> {
  const fromSource = isTypeScript(entry);
  const guard = new NativeGuard();
  const workerData: WorkerData = { entry: entry.href, options, guard: guard.memory };
  const program = fromSource ? sourceBootstrap : entry;
  // Import from a text: a thread inherits the process's flags, and under `--input-type` Node accepts no file.
  const worker = new Worker(`import(${JSON.stringify(program.href)})`, {
    eval: true,
    workerData,
    name: 'rlp-engine',
    ...(fromSource && { execArgv: ['--conditions=@rlp/source'] }),
  });
  const channel: Channel<ToEngine, FromEngine> = {
    post: (message, transfer = []) => worker.postMessage(message, [...transfer]),
    listen: (receive) => void worker.on('message', receive),
  };
  const { client, stores } = connect(channel, worker);
  worker.on('error', (cause) => {
    const isLost = String(cause).includes(fileURLToPath(program));
    const remedy = isLost ? '; a bundle must leave @rlp/onnx out, as an external package' : '';
    client.end(new EngineError(`the engine's thread failed: ${String(cause)}${remedy}`, { cause }));
  });
  const unguard = guardExit(guard);
  const exited = new Promise<void>((resolve) => {
    worker.on('exit', (code) => {
      unguard();
      client.end(new EngineError(`the engine's thread ended with exit code ${code}; create another engine`));
      resolve();
    });
  });
  const terminate = () => terminateWithin({ worker, exited, guard }, options.timeouts.closeMs);
  try {
    warnOnce(await withinLimit(client.ready, options.timeouts.startMs));
  } catch (error) {
    await terminate();
    throw error;
  }
  worker.unref();
  return new RemoteEngine(client, stores, options, { terminate });
}

interface EngineThread {
  readonly worker: Worker;
  readonly exited: Promise<void>;
  readonly guard: NativeGuard;
}

/** Terminates the thread. A thread stuck in a driver cannot be terminated and is left behind after the limit. */
async function terminateWithin({ worker, exited, guard }: EngineThread, limitMs: number): Promise<void> {
  if ((await guard.quiet(limitMs)) === 'busy') return void worker.unref();
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(limitMs, longestTimerMs));
  });
  void worker.terminate();
  await Promise.race([exited, limit]);
  clearTimeout(timer);
  worker.unref();
}

async function withinLimit<Value>(ready: Promise<Value>, limitMs: number): Promise<Value> {
  if (!Number.isFinite(limitMs)) return ready;
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    const error = new TimeoutError(`createEngine: the engine did not start within ${limitMs} ms`);
    timer = setTimeout(() => reject(error), Math.min(limitMs, longestTimerMs));
  });
  try {
    return await Promise.race([ready, limit]);
  } finally {
    clearTimeout(timer);
  }
}
