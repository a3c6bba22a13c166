import { EngineError } from '@rlp/core';
import { elementCount } from '../../graph/shape.ts';
import type { StorePart } from '../channel.ts';
import type { ResolvedEngineOptions } from '../options.ts';
import type {
  CallOptions,
  Engine,
  ExecutionProvider,
  OperatorTime,
  ProgramMethods,
  ProgramReference,
  RunningProgram,
  StoreSpec,
  StoreTensor,
  StoreTensors,
} from '../protocol.ts';
import { type Residency, residencyOf } from '../providers.ts';
import { checkLength, checkShapes } from '../stores/store.ts';
import { CallerCopies } from './caller-copies.ts';
import type { Client } from './client.ts';
import { Origins } from './origins.ts';

/** 4 MiB, which copies in a millisecond. */
const partLength = 2 ** 20;

/**
 * Splits a tensor into parts that reuse two buffers. Stores on a device take whole tensors.
 *
 * Whole tensors in messages would leave as much garbage in the engine's thread as the weights take. Nothing
 * there would trigger a collection.
 */
function* parts(total: number, residency: Residency) {
  const length = residency === 'device' ? total : partLength;
  for (let first = 0; first < total; first += length) {
    yield { first, count: Math.min(length, total - first) };
  }
}

/** Sends a part, and moves those buffers. Gives back its memory. */
type SendPart = (part: StorePart, transfer: readonly ArrayBuffer[]) => Promise<ArrayBufferLike>;

/**
 * Two buffers that take parts to the engine in turn, so that one is filled while the other is copied.
 *
 * They are shared where that is possible, because V8 looks for garbage after so many bytes were moved to a thread.
 */
class PartBuffers {
  readonly #send: SendPart;
  readonly #makes: (bytes: number) => ArrayBufferLike;
  readonly #free: Promise<ArrayBufferLike>[];

  constructor(residency: Residency, send: SendPart) {
    this.#send = send;
    const shared = residency === 'host' && typeof SharedArrayBuffer !== 'undefined';
    this.#makes = (bytes) => (shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes));
    this.#free = [0, 0].map(async (bytes) => this.#makes(bytes));
  }

  /** Waits for a buffer, fills it and sends it on its way. @throws What became of an earlier part. */
  async pass(part: Omit<StorePart, 'buffer'>, fill: (target: Float32Array) => void): Promise<void> {
    const bytes = Float32Array.BYTES_PER_ELEMENT * part.count;
    const freed = await this.#free.shift()!;
    const buffer = freed.byteLength < bytes ? this.#makes(bytes) : freed;
    fill(new Float32Array(buffer, 0, part.count));
    const sent = this.#send({ ...part, buffer }, buffer instanceof ArrayBuffer ? [buffer] : []);
    // A failure is thrown for the next part but one, or at the end.
    sent.catch(() => {});
    this.#free.push(sent);
  }

  /** Waits until all parts have arrived. */
  async end(): Promise<void> {
    await Promise.all(this.#free);
  }
}

/** Fills arrays with parts of a tensor, and says how much memory of the caller it takes. @throws ArgumentError if numbers are missing. */
function contentsOf(store: string, parameter: string, tensor: StoreTensor) {
  if (tensor.copyTo !== undefined) {
    return { held: 0, copy: (target: Float32Array, first: number) => tensor.copyTo!(target, first) };
  }
  const { shape, data } = tensor;
  checkLength('createStore', store, parameter, { shape, data });
  return {
    held: data.byteLength,
    copy: (target: Float32Array, first: number) => target.set(data.subarray(first, first + target.length)),
  };
}

/** What the engine's opener does beside. */
interface EngineHooks {
  /** Called before a program starts. */
  readonly starting?: (program: ProgramReference<ProgramMethods>) => void;
  /** Frees the thread after the engine has ended or failed to end. */
  readonly terminate?: () => Promise<void>;
}

/** An {@link Engine} at the other end of a client's channel, in another thread or in this one. */
export class RemoteEngine implements Engine {
  readonly executionProvider: ExecutionProvider;
  readonly residency: Residency;
  readonly threads: number;
  readonly #client: Client;
  readonly #stores: ReadonlySet<string>;
  readonly #timeouts: ResolvedEngineOptions['timeouts'];
  readonly #hooks: EngineHooks;
  readonly #origins = new Origins();
  readonly #copies = new CallerCopies();
  /** Stores being created, by name. */
  readonly #creations = new Map<string, Promise<void>>();
  #closed: Promise<void> | undefined;

  /**
   * @param stores - Names of existing stores. The client keeps them up to date.
   */
  constructor(
    client: Client,
    stores: ReadonlySet<string>,
    options: Pick<ResolvedEngineOptions, 'executionProvider' | 'threads' | 'timeouts'>,
    hooks: EngineHooks = {},
  ) {
    this.#client = client;
    this.#stores = stores;
    this.executionProvider = options.executionProvider;
    this.residency = residencyOf(options.executionProvider);
    this.threads = options.threads;
    this.#timeouts = options.timeouts;
    this.#hooks = hooks;
  }

  async createStore(spec: StoreSpec, contents?: StoreTensors, origin = contents): Promise<void> {
    if (contents) checkShapes('createStore', spec, contents);
    const { name } = spec;
    if (this.hasStore(name)) return this.#create(spec, contents);
    if (origin) this.#origins.remember(name, origin);
    const creation = this.#create(spec, contents);
    this.#creations.set(name, creation);
    try {
      await creation;
    } catch (error) {
      this.#origins.forget(name);
      throw error;
    } finally {
      this.#creations.delete(name);
    }
  }

  hasStore(name: string): boolean {
    return this.#stores.has(name) || this.#creations.has(name);
  }

  wasCreatedWith(name: string, tensors: StoreTensors): boolean {
    return this.#origins.agrees(name, tensors);
  }

  writeStore(name: string, tensors: StoreTensors, slot?: string): Promise<void> {
    return this.#client.request('writeStore', { name, tensors, slot }, this.#timeouts.requestMs);
  }

  async readStore(name: string, slot?: string): Promise<Map<string, StoreTensor>> {
    return new Map(await this.#client.request('readStore', { name, slot }, this.#timeouts.requestMs));
  }

  async deleteStore(name: string): Promise<void> {
    if (this.#client.ended) return;
    await this.#client.request('deleteStore', { name }, this.#timeouts.requestMs);
    this.#origins.forget(name);
  }

  async start<Methods extends ProgramMethods>(
    program: ProgramReference<Methods>,
    options: unknown,
  ): Promise<RunningProgram<Methods>> {
    // A program finds the stores that were requested before it, with their contents.
    if (this.#creations.size > 0) await Promise.allSettled(this.#creations.values());
    this.#hooks.starting?.(program);
    this.#copies.suggestCollection('again');
    const url = program.url.href;
    const id = await this.#client.request('start', { url, options }, this.#timeouts.requestMs);
    return new RemoteProgram<Methods>(this.#client, id, this.#timeouts, this.#copies);
  }

  profile(): Promise<readonly OperatorTime[]> {
    return this.#client.request('profile', undefined, this.#timeouts.requestMs);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Creates a store. Rejects if the name is taken. */
  async #create(spec: StoreSpec, contents: StoreTensors | undefined): Promise<void> {
    await this.#client.request('createStore', spec, this.#timeouts.requestMs);
    if (!contents) return;
    try {
      await this.#fill(spec.name, contents);
    } catch (error) {
      await this.deleteStore(spec.name);
      throw error;
    }
  }

  async #fill(name: string, contents: StoreTensors): Promise<void> {
    const buffers = new PartBuffers(this.residency, (part, transfer) =>
      this.#client.request('writePart', part, this.#timeouts.requestMs, transfer),
    );
    for (const [parameter, tensor] of contents) {
      const { copy, held } = contentsOf(name, parameter, tensor);
      for (const { first, count } of parts(elementCount(tensor.shape), this.residency)) {
        await buffers.pass({ name, parameter, first, count }, (target) => copy(target, first));
      }
      this.#copies.copied(held);
    }
    await buffers.end();
  }

  async #close(): Promise<void> {
    // Send this before the others are rejected. Afterwards nothing can be sent.
    const ended = this.#client.request('close', undefined, this.#timeouts.closeMs);
    this.#client.rejectOthers(new EngineError('the engine was closed; create another one'));
    try {
      await ended;
    } catch {
      // The engine ends even if a program fails or takes too long to end.
    } finally {
      this.#client.end(new EngineError('the engine was closed; create another one'));
      await this.#hooks.terminate?.();
    }
  }
}

class RemoteProgram<Methods extends ProgramMethods> implements RunningProgram<Methods> {
  readonly #client: Client;
  readonly #id: number;
  readonly #timeouts: ResolvedEngineOptions['timeouts'];
  readonly #copies: CallerCopies;
  #stopped: Promise<void> | undefined;

  constructor(client: Client, id: number, timeouts: ResolvedEngineOptions['timeouts'], copies: CallerCopies) {
    this.#client = client;
    this.#id = id;
    this.#timeouts = timeouts;
    this.#copies = copies;
  }

  call<Name extends keyof Methods & string>(
    method: Name,
    argument: Parameters<Methods[Name]>[0],
    options: CallOptions = {},
  ): Promise<Awaited<ReturnType<Methods[Name]>>> {
    this.#copies.suggestCollection();
    const call = { program: this.#id, method, argument };
    return this.#client.call(call, this.#timeouts.callMs, options) as Promise<
      Awaited<ReturnType<Methods[Name]>>
    >;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Stops the program. Does nothing if the engine has ended. */
  async #stop(): Promise<void> {
    if (this.#client.ended) return;
    await this.#client.request('stop', { program: this.#id }, this.#timeouts.requestMs);
  }
}
