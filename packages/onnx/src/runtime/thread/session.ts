import { EngineError, messageOf, RlpError } from '@rlp/core';

import type { EngineSession, Tensors } from '../protocol.ts';
import type { SessionLease } from './session-lease.ts';

/** The engine that owns a session. */
export interface SessionOwner {
  /** Compiles the session's graph again. For profiles only: without them, the graph is not kept. */
  open(): Promise<SessionLease>;
  /** Called when the program releases the session, before its compiled graph is freed. */
  releasing(session: OwnedSession, lease: SessionLease): void;
  /** Called with the duration of a run, in milliseconds. */
  ran(milliseconds: number): void;
}

/** A session held by a program. Its compiled graph can be replaced, which is how profiles are collected. */
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
    if (!lease) throw new EngineError('session: run after release; start the program again');
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
      lease.track(fetch.filter((name) => into[name] === undefined).map((name) => outputs[name]!));
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

  /** Replaces the compiled graph with a new one. `last` is called with the old one first. */
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
  const said = messageOf(cause);
  if (/requires f16 but the device does not support/i.test(said))
    return "the device has no float16; use precision: 'float32' and weights: 'shared'";
  return /failed to allocate|out of memory|out of device memory|bad_alloc|cudaErrorMemoryAllocation/i.test(
    said,
  )
    ? `memory is full; lower tokensPerMicroBatch, maxSequences or contextLength, or take a smaller model (${said})`
    : said;
}
