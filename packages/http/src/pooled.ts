import { onAbort } from '@rlp/core';
import type { Agent, Dispatcher } from 'undici';
import type { Fetch, FetchBody, FetchResponse } from './client/fetch.ts';

let agent: Promise<Agent> | undefined;

/**
 * Sends requests over connections that stay open, for a quarter of the processor time of `fetch`. It has no time limits, where
 * Node's `fetch` ends an answer that does not begin within 300 s. In a browser it is `undefined`: the platform has its own. Needs the
 * package `undici`.
 *
 * @throws the reason of the signal, or an error whose `cause` is that of the connection.
 */
export const pooledFetch: Fetch | undefined = async (url, { method, headers, body = null, signal }) => {
  signal.throwIfAborted();
  const { origin, pathname, search, username, password } = new URL(url);
  if (username !== '' || password !== '') {
    throw new TypeError('the address holds a user or a password; send them as a header');
  }
  agent ??= import('undici').then((undici) => new undici.Agent({ headersTimeout: 0, bodyTimeout: 0 }));
  const dispatcher = await agent;
  return new Promise((answer, fail) => {
    const exchange = new PooledExchange(signal, { answer, fail });
    dispatcher.dispatch({ origin, path: pathname + search, method, headers, body }, exchange);
  });
};

/** Where an answer goes once it begins, or what failed before. */
interface Settle {
  readonly answer: (response: FetchResponse) => void;
  readonly fail: (error: unknown) => void;
}

/** Bytes of an answer that wait for their reader before the connection waits too. */
const mostWaiting = 262_144;
const decoder = new TextDecoder();

/** Takes an answer from the connection. undici's own `request` makes a stream of each, which costs more than the answer. */
class PooledExchange implements Dispatcher.DispatchHandler, FetchBody {
  readonly #settle: Settle;
  readonly #release: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #chunks: Buffer[] = [];
  #waiting = 0;
  /** Whether everything is wanted at once, however much it is. */
  #isGathered = false;
  #end: { readonly error?: unknown } | undefined;
  #wake: () => void = () => undefined;

  constructor(signal: AbortSignal, settle: Settle) {
    this.#settle = settle;
    this.#release = onAbort(signal, () => {
      this.#close({ error: signal.reason });
      this.#controller?.abort(signal.reason);
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#end !== undefined) controller.abort(this.#end.error as Error);
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // The answer proper comes later.
    if (status < 200) return;
    const get = (name: string) => {
      const value = headers[name.toLowerCase()];
      return value === undefined ? null : String(value);
    };
    this.#settle.answer({ status, headers: { get }, text: () => this.#text(), body: this });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#waiting += chunk.length;
    if (this.#isGathered) return;
    if (this.#waiting > mostWaiting) controller.pause();
    this.#wake();
  }

  onResponseEnd(): void {
    this.#close({});
  }

  onResponseError(_: unknown, cause: Error): void {
    this.#close({ error: new TypeError('fetch failed', { cause }) });
  }

  getReader(): ReturnType<FetchBody['getReader']> {
    return {
      read: async () => {
        if (this.#chunks.length === 0) await this.#more();
        const value = this.#chunks.shift();
        if (value === undefined) return { done: true };
        this.#waiting -= value.length;
        if (this.#waiting === 0) this.#controller?.resume();
        return { done: false, value };
      },
      cancel: async () => this.#controller?.abort(new Error('the answer is not wanted')),
    };
  }

  async #text(): Promise<string> {
    this.#isGathered = true;
    this.#controller?.resume();
    while (this.#end === undefined) await this.#more();
    if ('error' in this.#end) throw this.#end.error;
    return decoder.decode(this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks));
  }

  /** Waits for bytes or the end. @throws the error that ended the answer. */
  async #more(): Promise<void> {
    if (this.#end === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#end !== undefined && 'error' in this.#end) throw this.#end.error;
  }

  /** Ends the answer, which may not have begun. */
  #close(end: { readonly error?: unknown }): void {
    this.#end ??= end;
    this.#release?.();
    if ('error' in end) this.#settle.fail(end.error);
    this.#wake();
  }
}
