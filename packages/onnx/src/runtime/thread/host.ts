import { EngineError, messageOf, nextTurn, parseOptions } from '@rlp/core';
import type { NativeRuntime, NativeSessionOptions } from '../native/native.ts';
import type { ResolvedEngineOptions } from '../options.ts';
import type { Platform, SessionProfiler } from '../platform.ts';
import type {
  EngineHost,
  EngineSession,
  ExecutionProvider,
  OperatorTime,
  ParameterStore,
  SessionOptions,
  StoreSpec,
} from '../protocol.ts';
import { type Residency, residencyOf } from '../providers.ts';
import { DeviceStore } from '../stores/device-store.ts';
import { DeviceTransfer } from '../stores/device-transfer.ts';
import { FlatDeviceStore } from '../stores/flat-device-store.ts';
import { HostStore } from '../stores/host-store.ts';
import type { OwnedStore } from '../stores/store.ts';
import { storeSpecSchema } from '../stores/store-layout.ts';
import { probeProvider } from './probe.ts';
import { OwnedSession, type SessionOwner } from './session.ts';
import { SessionLease } from './session-lease.ts';

const modelLimitBytes = 2 ** 31;

/** Called when a store is created or deleted, so that the caller's side knows the names. */
export type StoreListener = (name: string, state: 'created' | 'deleted') => void;

/** The engine inside its thread: ONNX Runtime, stores and sessions. */
export class Host implements EngineHost {
  readonly executionProvider: ExecutionProvider;
  readonly residency: Residency;
  readonly threads: number;
  readonly #native: NativeRuntime;
  readonly #transfer: DeviceTransfer;
  readonly #profiler: SessionProfiler | undefined;
  readonly #profiling: ResolvedEngineOptions['profiling'];
  readonly #advice: string | undefined;
  readonly #runs = { count: 0, milliseconds: 0 };
  readonly #stores = new Map<string, OwnedStore>();
  readonly #sessions = new Set<OwnedSession>();
  readonly #leases = new Set<SessionLease>();
  #onStore: StoreListener = () => {};

  constructor(
    native: NativeRuntime,
    options: Pick<ResolvedEngineOptions, 'executionProvider' | 'threads' | 'profiling'>,
    platform: Pick<Platform, 'createProfiler' | 'providerAdvice'>,
  ) {
    this.#native = native;
    this.executionProvider = options.executionProvider;
    this.residency = residencyOf(options.executionProvider);
    this.threads = options.threads;
    this.#profiling = options.profiling;
    this.#profiler = options.profiling === 'on' ? platform.createProfiler?.() : undefined;
    this.#advice = platform.providerAdvice?.(options.executionProvider);
    this.#transfer = new DeviceTransfer(native, { ...this.#sessionBase(), threads: 1 });
  }

  /**
   * Checks that the execution provider works and computes right numbers.
   *
   * @throws EngineError listing the providers of this machine.
   */
  async probe(): Promise<void> {
    const backends = this.#native.backends();
    const wanted = backends.find(({ name }) => name === this.executionProvider);
    if (!wanted) throw this.#unavailable(backends);
    if (this.executionProvider === 'cpu') return;
    try {
      await probeProvider(this.#native, { ...this.#sessionBase(), threads: 1 });
    } catch (cause) {
      throw this.#unavailable(backends, cause);
    }
  }

  set onStore(listener: StoreListener) {
    this.#onStore = listener;
  }

  store(name: string): ParameterStore {
    return this.ownedStore(name);
  }

  /** {@link Host.store} with the methods that only the engine may call. */
  ownedStore(name: string): OwnedStore {
    const store = this.#stores.get(name);
    if (store) return store;
    const known =
      this.#stores.size > 0 ? `there are: ${[...this.#stores.keys()].join(', ')}` : 'there are none';
    throw new EngineError(`no store named "${name}", ${known}`);
  }

  createStore(spec: StoreSpec): ParameterStore {
    const checked = parseOptions('createStore', storeSpecSchema, spec);
    if (this.#stores.has(checked.name)) {
      throw new EngineError(`createStore: a store named "${checked.name}" exists already, delete it first`);
    }
    const store =
      this.residency === 'device' ? this.#deviceStore(checked) : new HostStore(this.#native, checked);
    this.#stores.set(store.name, store);
    this.#onStore(store.name, 'created');
    return store;
  }

  #deviceStore(spec: StoreSpec): OwnedStore {
    const { memory } = this.#native;
    return memory
      ? new FlatDeviceStore(this.#native, memory, this.#transfer, spec)
      : new DeviceStore(this.#native, this.#transfer, spec);
  }

  deleteStore(name: string): void {
    this.ownedStore(name).dispose();
    this.#stores.delete(name);
    this.#onStore(name, 'deleted');
  }

  async createSession(model: Uint8Array, options: SessionOptions = {}): Promise<EngineSession> {
    if (model.byteLength >= modelLimitBytes) {
      throw new EngineError(
        `createSession: the model takes ${model.byteLength} bytes and ONNX Runtime loads less than ${modelLimitBytes}: ` +
          'feed weights as inputs, or keep them in external data',
      );
    }
    const lease = await this.#open(model, options);
    const session = new OwnedSession(lease, this.#ownerOf(this.#profiler && { model, options }));
    this.#sessions.add(session);
    return session;
  }

  /** @param source - What the session is compiled from, if it is to be profiled. */
  #ownerOf(
    source: { readonly model: Uint8Array; readonly options: SessionOptions } | undefined,
  ): SessionOwner {
    return {
      open: () => this.#open(source!.model, source!.options),
      releasing: (released, { native }) => {
        this.#profiler?.collect(native);
        this.#sessions.delete(released);
        source?.options.onCompiled?.();
      },
      ran: (milliseconds) => {
        this.#runs.count += 1;
        this.#runs.milliseconds += milliseconds;
      },
    };
  }

  /** Waits for two turns of the event loop, because the first may have begun before the messages arrived. */
  async yield(): Promise<void> {
    await nextTurn();
    await nextTurn();
  }

  /**
   * Times so far. Compiles the graphs of open sessions again, because a profile can only be read when it
   * ends.
   */
  async profile(): Promise<readonly OperatorTime[]> {
    if (this.#profiling === 'runs') return [{ operator: 'session.run', ...this.#runs }];
    const profiler = this.#profiler;
    if (!profiler) return [];
    for (const session of this.#sessions) await session.reopen(({ native }) => profiler.collect(native));
    return profiler.times();
  }

  /** Frees sessions, stores and temporary files. */
  async dispose(): Promise<void> {
    for (const session of [...this.#sessions]) await session.release();
    for (const name of [...this.#stores.keys()]) this.deleteStore(name);
    for (const lease of [...this.#leases]) await lease.end();
    await this.#transfer.release();
    await this.#native.memory?.release();
    this.#profiler?.dispose();
  }

  async #open(model: Uint8Array, { onCompiled, ...options }: SessionOptions): Promise<SessionLease> {
    const profiling = this.#profiler ? { profileFilePrefix: this.#profiler.prefix() } : {};
    try {
      const native = await this.#native.createSession(model, {
        ...options,
        ...this.#sessionBase(),
        ...profiling,
      });
      const lease = new SessionLease(native, (freed) => this.#leases.delete(freed));
      this.#leases.add(lease);
      return lease;
    } catch (cause) {
      throw new EngineError(`createSession: ${messageOf(cause)}`, {
        cause,
      });
    } finally {
      // A profile compiles the graph again.
      if (!this.#profiler) onCompiled?.();
    }
  }

  #sessionBase(): Pick<NativeSessionOptions, 'executionProvider' | 'threads'> {
    return { executionProvider: this.executionProvider, threads: this.threads };
  }

  #unavailable(backends: ReturnType<NativeRuntime['backends']>, cause?: unknown): EngineError {
    const known = backends.map(({ name, bundled }) => (bundled ? name : `${name} (needs its own libraries)`));
    const wanted = this.executionProvider;
    const why = cause instanceof Error ? ` (${cause.message.replaceAll(/\s+/g, ' ').trim()})` : '';
    return new EngineError(
      `execution provider "${wanted}" does not work here${why}; this build of ONNX Runtime has: ${known.join(', ')}. ` +
        `For ${wanted}: ${this.#advice ?? advice[wanted]}`,
      { cause },
    );
  }
}

const advice: Readonly<Record<ExecutionProvider, string>> = {
  cpu: 'install onnxruntime-node again',
  webgpu: 'install a Vulkan driver, or name a software one in VK_ICD_FILENAMES',
  cuda: 'it needs Node on Linux',
  coreml: 'it needs macOS',
  dml: 'it needs Windows',
};
