import { ArgumentError, EngineError, onAbort, TimeoutError } from '@rlp/core';

import type { Channel, EngineRequests, FromEngine, ToEngine } from '../channel.ts';
import type { CallOptions } from '../protocol.ts';
import { reviveError, serializeError } from '../wire-errors.ts';

/** Keeps the process alive while something is pending, and lets it end while nothing is. */
export interface Liveness {
  ref(): void;
  unref(): void;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  readonly onEvent: ((event: never) => void) | undefined;
}

type Unsent =
  | Omit<Extract<ToEngine, { kind: 'request' }>, 'id'>
  | Omit<Extract<ToEngine, { kind: 'call' }>, 'id'>;

/** How long one exchange may take, and what the error calls it. */
interface Exchange extends CallOptions {
  readonly what: string;
  readonly limitMs: number;
}

/** The caller's end of a channel to an engine: numbers messages and settles promises. */
export class Client {
  readonly #channel: Channel<ToEngine, FromEngine>;
  readonly #liveness: Liveness;
  readonly #pending = new Map<number, Pending>();
  readonly #onStore: (name: string, state: 'created' | 'deleted') => void;
  #nextId = 1;
  #ended: EngineError | undefined;
  #started!: (note: string | undefined) => void;
  #failed!: (reason: unknown) => void;
  /** Resolves to the engine's note once it is ready; rejects with why it cannot start. */
  readonly ready: Promise<string | undefined>;

  constructor(
    channel: Channel<ToEngine, FromEngine>,
    liveness: Liveness,
    onStore: (name: string, state: 'created' | 'deleted') => void,
  ) {
    this.#channel = channel;
    this.#liveness = liveness;
    this.#onStore = onStore;
    this.ready = new Promise((resolve, reject) => {
      this.#started = resolve;
      this.#failed = reject;
    });
    this.ready.catch(() => {});
    channel.listen((message) => this.#receive(message));
  }

  /** Asks the engine itself. Buffers in `transfer` are handed over. */
  request<Operation extends keyof EngineRequests>(
    operation: Operation,
    argument: EngineRequests[Operation]['argument'],
    limitMs: number,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<EngineRequests[Operation]['answer']> {
    const exchange = { what: `engine: ${operation}`, limitMs, transfer };
    return this.#send({ kind: 'request', operation, argument }, exchange) as Promise<
      EngineRequests[Operation]['answer']
    >;
  }

  /** Calls a program. Rejects with the signal's reason as soon as it aborts; the program is told. */
  call(
    {
      program,
      method,
      argument,
    }: { readonly program: number; readonly method: string; readonly argument: unknown },
    limitMs: number,
    options: CallOptions,
  ): Promise<unknown> {
    const exchange = { ...options, what: `call of "${method}"`, limitMs };
    return this.#send({ kind: 'call', program, method, argument }, exchange);
  }

  /** Whether the engine has ended: nothing can be sent any more. */
  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** Rejects everything pending except the newest request, which is the engine's own to close. */
  rejectOthers(error: EngineError): void {
    for (const { reject } of [...this.#pending.values()].slice(0, -1)) reject(error);
  }

  /** Rejects everything pending, and whatever is asked from now on. */
  end(error: EngineError): void {
    this.#ended ??= error;
    this.#failed(this.#ended);
    for (const { reject } of [...this.#pending.values()]) reject(this.#ended);
  }

  async #send(message: Unsent, exchange: Exchange): Promise<unknown> {
    const { signal, onEvent, transfer, what, limitMs } = exchange;
    signal?.throwIfAborted();
    if (this.#ended) throw new EngineError(`${what}: ${this.#ended.message}`, { cause: this.#ended });
    const id = this.#nextId++;
    const abort = () => {
      this.#channel.post({ kind: 'abort', id, reason: serializeError(signal?.reason) });
      this.#pending.get(id)?.reject(signal?.reason);
    };
    const timer = Number.isFinite(limitMs) ? this.#timer(id, what, limitMs) : undefined;
    let release: (() => void) | undefined;
    try {
      return await new Promise((resolve, reject) => {
        this.#post(what, { ...message, id }, transfer);
        this.#pending.set(id, { resolve, reject, onEvent });
        this.#liveness.ref();
        release = signal && onAbort(signal, abort);
      });
    } finally {
      clearTimeout(timer);
      release?.();
      this.#pending.delete(id);
      if (this.#pending.size === 0) this.#liveness.unref();
    }
  }

  #timer(id: number, what: string, limitMs: number): NodeJS.Timeout {
    const error = () =>
      new TimeoutError(`${what} took longer than ${limitMs} ms, see the engine option "timeouts"`);
    return setTimeout(
      () => {
        this.#channel.post({ kind: 'abort', id, reason: serializeError(error()) });
        this.#pending.get(id)?.reject(error());
      },
      Math.min(limitMs, 2 ** 31 - 1),
    );
  }

  #post(what: string, message: ToEngine, transfer: readonly ArrayBuffer[] | undefined): void {
    try {
      this.#channel.post(message, transfer);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ArgumentError(`${what}: the argument cannot be sent to the engine: ${why}`, { cause });
    }
  }

  #receive(message: FromEngine): void {
    if (message.kind === 'ready') this.#started(message.note);
    else if (message.kind === 'failed') this.#failed(reviveError(message.error));
    else if (message.kind === 'store') this.#onStore(message.name, message.state);
    else if (message.kind === 'answer') this.#pending.get(message.id)?.resolve(message.value);
    else if (message.kind === 'error') this.#pending.get(message.id)?.reject(reviveError(message.error));
    else this.#deliver(message.id, message.event);
  }

  /** A listener that throws ends its call. */
  #deliver(id: number, event: unknown): void {
    const pending = this.#pending.get(id);
    try {
      pending?.onEvent?.(event as never);
    } catch (error) {
      this.#channel.post({ kind: 'abort', id, reason: serializeError(error) });
      pending?.reject(error);
    }
  }
}
