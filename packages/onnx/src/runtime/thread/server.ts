import { ArgumentError, EngineError, messageOf } from '@rlp/core';

import type { Channel, EngineRequests, FromEngine, ToEngine } from '../channel.ts';
import type { Platform } from '../platform.ts';
import { readTensors, writePart, writeTensors } from '../stores/store.ts';
import { reviveError, serializeError } from '../wire-errors.ts';
import type { Host } from './host.ts';
import { buildProgram, methodOf } from './program.ts';

type Handlers = {
  [Operation in keyof EngineRequests]: (argument: EngineRequests[Operation]['argument']) => unknown;
};

interface RunningCall {
  readonly program: number;
  readonly controller: AbortController;
  readonly settled: Promise<void>;
}

/** Answers a caller at the other end of a channel: requests to the engine and calls of programs. */
export class Server {
  readonly #channel: Channel<FromEngine, ToEngine>;
  readonly #host: Host;
  readonly #importModule: Platform['importModule'];
  readonly #stopMs: number;
  readonly #programs = new Map<number, object>();
  readonly #calls = new Map<number, RunningCall>();
  #nextProgram = 1;

  constructor(
    channel: Channel<FromEngine, ToEngine>,
    {
      host,
      importModule,
      stopMs,
    }: Pick<Platform, 'importModule'> & {
      readonly host: Host;
      /** How long calls may take to end after their program is stopped, in milliseconds. */
      readonly stopMs: number;
    },
  ) {
    this.#channel = channel;
    this.#host = host;
    this.#importModule = importModule;
    this.#stopMs = stopMs;
    host.onStore = (name, state) => channel.post({ kind: 'store', name, state });
    channel.listen((message) => this.#receive(message));
  }

  #receive(message: ToEngine): void {
    if (message.kind === 'request') void this.#request(message);
    else if (message.kind === 'call') this.#call(message);
    else this.#calls.get(message.id)?.controller.abort(reviveError(message.reason));
  }

  async #request({ id, operation, argument }: Extract<ToEngine, { kind: 'request' }>): Promise<void> {
    try {
      const value = await (this.#handlers[operation] as (argument: unknown) => unknown)(argument);
      this.#channel.post({ kind: 'answer', id, value }, handedOver(operation, value));
    } catch (error) {
      this.#channel.post({ kind: 'error', id, error: serializeError(error) });
    }
  }

  readonly #handlers: Handlers = {
    createStore: (spec) => void this.#host.createStore(spec),
    writeStore: ({ name, tensors, slot }) => writeTensors(this.#host.ownedStore(name), tensors, slot),
    writePart: (part) => writePart(this.#host.ownedStore(part.name), part),
    readStore: ({ name, slot }) => readTensors(this.#host.ownedStore(name), slot),
    deleteStore: ({ name }) => this.#host.deleteStore(name),
    start: async ({ url, options }) => {
      const module = (await this.#importModule(new URL(url))) as object;
      const program = await buildProgram(url, module, { host: this.#host, options });
      this.#programs.set(this.#nextProgram, program);
      return this.#nextProgram++;
    },
    stop: ({ program }) => this.#stop(program, new EngineError('the program was stopped; start it again')),
    profile: () => this.#host.profile(),
    close: () => this.#close(),
  };

  /** Starts a call immediately, so that calls start in the order they are made. */
  #call(message: Extract<ToEngine, { kind: 'call' }>): void {
    const controller = new AbortController();
    const settled = this.#perform(message, controller.signal).finally(() => this.#calls.delete(message.id));
    this.#calls.set(message.id, { program: message.program, controller, settled });
  }

  async #perform(
    { id, program, method, argument }: Extract<ToEngine, { kind: 'call' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const transfer: ArrayBuffer[] = [];
    try {
      const target = this.#programs.get(program);
      if (!target) throw new EngineError(`call of "${method}": the program was stopped; start it again`);
      const value = await methodOf(target, method)(argument, {
        signal,
        emit: (event) => this.#post(`event of "${method}"`, { kind: 'event', id, event }),
        transfer: (...buffers) => void transfer.push(...buffers),
      });
      this.#post(`result of "${method}"`, { kind: 'answer', id, value }, transfer);
    } catch (error) {
      this.#channel.post({ kind: 'error', id, error: serializeError(error) });
    }
  }

  #post(what: string, message: FromEngine, transfer: readonly ArrayBuffer[] = []): void {
    try {
      this.#channel.post(message, transfer);
    } catch (cause) {
      throw new ArgumentError(`${what} cannot leave the engine: ${messageOf(cause)}`, {
        cause,
      });
    }
  }

  async #stop(id: number, reason: EngineError): Promise<void> {
    const program = this.#programs.get(id);
    if (!program) return;
    this.#programs.delete(id);
    const calls = [...this.#calls.values()].filter((call) => call.program === id);
    for (const { controller } of calls) controller.abort(reason);
    await settledWithin(
      calls.map(({ settled }) => settled),
      this.#stopMs,
    );
    if ('close' in program && typeof program.close === 'function') await program.close();
  }

  async #close(): Promise<void> {
    const reason = new EngineError('the engine was closed; create another one');
    try {
      const stops = [...this.#programs.keys()].map((id) => this.#stop(id, reason));
      const failed = (await Promise.allSettled(stops)).find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
    } finally {
      await this.#host.dispose();
    }
  }
}

/** Buffers of an answer that are moved to the caller instead of copied. */
function handedOver(operation: keyof EngineRequests, value: unknown): ArrayBuffer[] {
  if (operation === 'writePart') return value instanceof ArrayBuffer ? [value] : [];
  if (operation !== 'readStore') return [];
  const tensors = value as EngineRequests['readStore']['answer'];
  return [...tensors.values()].map(({ data }) => data.buffer as ArrayBuffer);
}

async function settledWithin(promises: readonly Promise<void>[], limitMs: number): Promise<void> {
  if (promises.length === 0) return;
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([Promise.allSettled(promises), limit]);
  clearTimeout(timer);
}
