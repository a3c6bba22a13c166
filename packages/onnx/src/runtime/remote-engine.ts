import { EngineError } from '@rlp/core';
import type { StoreTensors } from './channel.ts';
import type { Client } from './client.ts';
import type { ResolvedEngineOptions } from './options.ts';
import type {
  CallOptions,
  Engine,
  ExecutionProvider,
  OperatorTime,
  ProgramMethods,
  ProgramReference,
  RunningProgram,
  StoreSpec,
} from './protocol.ts';

/** An {@link Engine} at the other end of a client's channel, in another thread or in this one. */
export class RemoteEngine implements Engine {
  readonly executionProvider: ExecutionProvider;
  readonly threads: number;
  readonly #client: Client;
  readonly #stores: ReadonlySet<string>;
  readonly #timeouts: ResolvedEngineOptions['timeouts'];
  readonly #terminate: () => Promise<void>;
  #closed: Promise<void> | undefined;

  /**
   * @param stores - Names of the stores there are; kept up to date by the client.
   * @param terminate - Frees the thread once the engine has ended, or failed to.
   */
  constructor(
    client: Client,
    stores: ReadonlySet<string>,
    options: ResolvedEngineOptions,
    terminate: () => Promise<void>,
  ) {
    this.#client = client;
    this.#stores = stores;
    this.executionProvider = options.executionProvider;
    this.threads = options.threads;
    this.#timeouts = options.timeouts;
    this.#terminate = terminate;
  }

  createStore(spec: StoreSpec): Promise<void> {
    return this.#client.request('createStore', spec, this.#timeouts.requestMs);
  }

  hasStore(name: string): boolean {
    return this.#stores.has(name);
  }

  writeStore(name: string, tensors: StoreTensors, slot?: string): Promise<void> {
    return this.#client.request('writeStore', { name, tensors, slot }, this.#timeouts.requestMs);
  }

  async readStore(
    name: string,
    slot?: string,
  ): Promise<Map<string, { shape: readonly number[]; data: Float32Array }>> {
    return new Map(await this.#client.request('readStore', { name, slot }, this.#timeouts.requestMs));
  }

  async deleteStore(name: string): Promise<void> {
    if (this.#client.ended) return;
    await this.#client.request('deleteStore', { name }, this.#timeouts.requestMs);
  }

  async start<Methods extends ProgramMethods>(
    program: ProgramReference<Methods>,
    options: unknown,
  ): Promise<RunningProgram<Methods>> {
    const url = program.url.href;
    const id = await this.#client.request('start', { url, options }, this.#timeouts.requestMs);
    return new RemoteProgram<Methods>(this.#client, id, this.#timeouts);
  }

  profile(): Promise<readonly OperatorTime[]> {
    return this.#client.request('profile', undefined, this.#timeouts.requestMs);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    // Asked before the others are rejected: afterwards nothing can be sent.
    const ended = this.#client.request('close', undefined, this.#timeouts.closeMs);
    this.#client.rejectOthers(new EngineError('the engine was closed'));
    try {
      await ended;
    } catch {
      // A program that fails or takes too long to end must not keep the engine from ending.
    } finally {
      this.#client.end(new EngineError('the engine was closed'));
      await this.#terminate();
    }
  }
}

class RemoteProgram<Methods extends ProgramMethods> implements RunningProgram<Methods> {
  readonly #client: Client;
  readonly #id: number;
  readonly #timeouts: ResolvedEngineOptions['timeouts'];
  #stopped: Promise<void> | undefined;

  constructor(client: Client, id: number, timeouts: ResolvedEngineOptions['timeouts']) {
    this.#client = client;
    this.#id = id;
    this.#timeouts = timeouts;
  }

  call<Name extends keyof Methods & string>(
    method: Name,
    argument: Parameters<Methods[Name]>[0],
    options: CallOptions = {},
  ): Promise<Awaited<ReturnType<Methods[Name]>>> {
    const call = { program: this.#id, method, argument };
    return this.#client.call(call, this.#timeouts.callMs, options) as Promise<
      Awaited<ReturnType<Methods[Name]>>
    >;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** What ended with its engine is stopped. */
  async #stop(): Promise<void> {
    if (this.#client.ended) return;
    await this.#client.request('stop', { program: this.#id }, this.#timeouts.requestMs);
  }
}
