import { EngineError, RlpError } from '@rlp/core';

import type { EngineSession, Tensors } from '../protocol.ts';
import type { SessionLease } from './session-lease.ts';

/** What a session needs from the engine that owns it. */
export interface SessionOwner {
  /** Compiles the session's graph anew. */
  open(): Promise<SessionLease>;
  /** Told when the program releases the session, while its compiled graph still stands. */
  releasing(session: OwnedSession, lease: SessionLease): void;
  /** Told how long a run took, in milliseconds. */
  ran(milliseconds: number): void;
}

/** A session that programs hold. Its compiled graph can be exchanged beneath it, which is how profiles are collected. */
export class OwnedSession implements EngineSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly #owner: SessionOwner;
  readonly #outputs: ReadonlySet<string>;
  #lease: SessionLease | undefined;

  constructor(lease: SessionLease, owner: SessionOwner) {
    this.#lease = lease;
    this.#owner = owner;
    this.inputNames = lease.native.inputNames;
    this.outputNames = lease.native.outputNames;
    this.#outputs = new Set(this.outputNames);
  }

  async run(
    feeds: Tensors,
    {
      into = {},
      fetch = this.outputNames,
    }: { readonly into?: Tensors; readonly fetch?: readonly string[] } = {},
  ): Promise<Tensors> {
    const lease = this.#lease;
    if (!lease) throw new EngineError('session: run after release');
    const names = [...new Set([...fetch, ...Object.keys(into)])];
    const unknown = names.filter((name) => !this.#outputs.has(name));
    if (unknown.length > 0) {
      throw new EngineError(
        `session: no output named ${unknown.join(', ')}, expected some of: ${this.outputNames.join(', ')}`,
      );
    }
    try {
      const start = performance.now();
      const outputs = await lease.native.run(feeds, names, into);
      this.#owner.ran(performance.now() - start);
      lease.track(outputs);
      return outputs;
    } catch (cause) {
      if (cause instanceof RlpError) throw cause;
      throw new EngineError(`session: ${whyFailed(feeds, cause)}`, { cause });
    }
  }

  async release(): Promise<void> {
    const lease = this.#lease;
    if (!lease) return;
    this.#lease = undefined;
    this.#owner.releasing(this, lease);
    await lease.retire();
  }

  /** Exchanges the compiled graph for a new one, after `last` has seen the old one. */
  async reopen(last: (lease: SessionLease) => void): Promise<void> {
    const old = this.#lease;
    if (!old) return;
    last(old);
    this.#lease = await this.#owner.open();
    await old.retire();
  }
}

function whyFailed(feeds: Tensors, cause: unknown): string {
  const gone = Object.keys(feeds).find((name) => feeds[name]!.location === 'none');
  if (gone !== undefined) return `input "${gone}" was freed before the run, with its store perhaps`;
  return cause instanceof Error ? cause.message : String(cause);
}
