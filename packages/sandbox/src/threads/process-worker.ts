import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { loaderFlags } from './loader-flags.ts';
import type { ThreadSettings } from './thread-settings.ts';

/** What is not trusted gets no flags. Modules of a user load as they do in this process. */
function flagsOf(isSource: boolean, surroundings: ThreadSettings['surroundings']): string[] {
  if (isSource) return ['--conditions=@rlp/source'];
  return surroundings === 'none' ? [] : loaderFlags(process.execArgv);
}

/** A process with the part of a thread's interface that a pool uses. */
export class ProcessWorker {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  constructor({ program, data, surroundings }: ThreadSettings) {
    const isSource = program.pathname.endsWith('.ts');
    const loaded = isSource ? new URL('../worker-source.mjs', import.meta.url) : program;
    const given = JSON.stringify(isSource ? { ...data, entry: program.href } : data);
    this.#child = fork(fileURLToPath(loaded), [], {
      serialization: 'advanced',
      env: { ...(surroundings === 'none' ? {} : process.env), RLP_WORKER_DATA: given },
      execArgv: flagsOf(isSource, surroundings),
      ...(surroundings === 'none' && { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }),
    });
    this.#ended = new Promise((resolve) => this.#child.once('exit', () => resolve()));
    // A process that ended cannot be sent to. Its end is reported.
    this.#child.on('error', () => undefined);
  }

  on(event: 'message' | 'messageerror' | 'error' | 'exit', listener: (value: never) => void): void {
    if (event === 'messageerror') return;
    this.#child.on(event, (value: unknown) => listener(value as never));
  }

  postMessage(message: unknown): void {
    this.#child.send(message as object, () => undefined);
  }

  ref(): void {
    this.#child.ref();
    this.#child.channel?.ref();
  }

  unref(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }

  async terminate(): Promise<void> {
    this.ref();
    this.#child.kill('SIGKILL');
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.#ended;
  }
}
