import {
  ArgumentError,
  EngineError,
  longestTimerMs,
  messageOf,
  onAbort,
  startDeadline,
  TimeoutError,
} from '@rlp/core';

import type { Channel, EngineRequests, FromEngine, ToEngine } from '../channel.ts';
import type { CallOptions } from '../protocol.ts';
import { reviveError, serializeError } from '../wire-errors.ts';

/** Keeps the process alive while requests are pending. */
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

/** Time limit of one exchange, and its name in error messages. */
interface Exchange extends CallOptions {
  readonly what: string;
  readonly limitMs: number;
}

/** The caller's end of a channel to an engine. Numbers messages and settles promises. */
export class Client {
  readonly #channel: Channel<ToEngine, FromEngine>;
  readonly #liveness: Liveness;
  readonly #pending = new Map<number, Pending>();
  readonly #onStore: (name: string, state: 'created' | 'deleted') => void;
  #nextId = 1;
  #ended: EngineError | undefined;
  #started!: (note: string | undefined) => void;
  #failed!: (reason: unknown) => void;
  /** Resolves to the engine's note when it is ready. Rejects if it cannot start. */
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

  /** Sends a request to the engine. Buffers in `transfer` are moved, not copied. */
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

  /** Calls a program. Rejects with the signal's reason as soon as it aborts, and notifies the program. */
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

  /** Whether the engine has ended. Nothing can be sent after that. */
  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** Rejects all pending requests except the newest, which is the engine's own close request. */
  rejectOthers(error: EngineError): void {
    for (const { reject } of [...this.#pending.values()].slice(0, -1)) reject(error);
  }

  /** Rejects all pending and all future requests. */
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
    const endDeadline = Number.isFinite(limitMs) ? this.#deadline(id, what, limitMs) : undefined;
    let release: (() => void) | undefined;
    try {
      return await new Promise((resolve, reject) => {
        this.#post(what, { ...message, id }, transfer);
        this.#pending.set(id, { resolve, reject, onEvent });
        this.#liveness.ref();
        release = signal && onAbort(signal, abort);
      });
    } finally {
      endDeadline?.();
      release?.();
      this.#pending.delete(id);
      if (this.#pending.size === 0) this.#liveness.unref();
    }
  }

  #deadline(id: number, what: string, limitMs: number): () => void {
    const error = () =>
      new TimeoutError(`${what} took longer than ${limitMs} ms, see the engine option "timeouts"`);
    return startDeadline(Math.min(limitMs, longestTimerMs), () => {
      this.#channel.post({ kind: 'abort', id, reason: serializeError(error()) });
      this.#pending.get(id)?.reject(error());
    });
  }

  #post(what: string, message: ToEngine, transfer: readonly ArrayBuffer[] | undefined): void {
    try {
      this.#channel.post(message, transfer);
    } catch (cause) {
      throw new ArgumentError(`${what}: the argument cannot be sent to the engine: ${messageOf(cause)}`, {
        cause,
      });
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

  /** Delivers an event to its call. A listener that throws ends the call. */
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
