import { EngineError, RlpError } from '@rlp/core';

import type { NativeSession } from './native.ts';
import type { EngineSession, Tensors } from './protocol.ts';

/** Opens the compiled graph behind a session: once, and again each time its profile has been collected. */
export type SessionOpener = () => Promise<NativeSession>;

/** A session that programs hold. Its compiled graph can be exchanged beneath it, which is how profiles are collected. */
export class OwnedSession implements EngineSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly #open: SessionOpener;
  readonly #outputs: ReadonlySet<string>;
  readonly #released: (session: OwnedSession, native: NativeSession) => void;
  #native: NativeSession | undefined;

  /** @param released - Called with the compiled graph just before it is freed. */
  constructor(
    native: NativeSession,
    open: SessionOpener,
    released: (session: OwnedSession, native: NativeSession) => void,
  ) {
    this.#native = native;
    this.#open = open;
    this.#released = released;
    this.inputNames = native.inputNames;
    this.outputNames = native.outputNames;
    this.#outputs = new Set(native.outputNames);
  }

  async run(
    feeds: Tensors,
    {
      into = {},
      fetch = this.outputNames,
    }: { readonly into?: Tensors; readonly fetch?: readonly string[] } = {},
  ): Promise<Tensors> {
    if (!this.#native) throw new EngineError('session: run after release');
    const names = [...new Set([...fetch, ...Object.keys(into)])];
    const unknown = names.filter((name) => !this.#outputs.has(name));
    if (unknown.length > 0) {
      throw new EngineError(
        `session: no output named ${unknown.join(', ')}, expected some of: ${this.outputNames.join(', ')}`,
      );
    }
    try {
      return await this.#native.run(feeds, names, into);
    } catch (cause) {
      if (cause instanceof RlpError) throw cause;
      throw new EngineError(`session: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  }

  async release(): Promise<void> {
    const native = this.#native;
    if (!native) return;
    this.#native = undefined;
    this.#released(this, native);
    await native.release();
  }

  /** Exchanges the compiled graph for a new one, after `last` has seen the old one. */
  async reopen(last: (native: NativeSession) => void): Promise<void> {
    const old = this.#native;
    if (!old) return;
    last(old);
    this.#native = await this.#open();
    await old.release();
  }
}
