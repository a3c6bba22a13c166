import { ArgumentError, messageOf, type PublicationForm, SamplerError, withSignals } from '@rlp/core';
import { ApiError } from '../api-error.ts';
import type { ServedPolicy } from '../served-policy.ts';
import { WeightTurns } from './turns.ts';

/** Weights that a request can name. */
export interface NamedWeights {
  readonly name: string;
  /** Folder that they are read from, if known. */
  readonly path?: string | undefined;
  readonly kind: 'base' | 'adapter';
}

/** How {@link ServedWeights} are set up. */
export interface ServedWeightsOptions {
  readonly policy: ServedPolicy;
  /** Name of the model in requests. */
  readonly name: string;
  /** Folder that the model was loaded from. */
  readonly folder?: string | undefined;
  /** Whether names that nobody serves mean the model. */
  readonly otherNames: 'refuse' | 'serve';
}

interface Entry extends NamedWeights {
  readonly version: number;
}

/** The weights that the policy can answer with: those of the model, and adapters. One of them is in force at a time. */
export class ServedWeights {
  /** Name of the model in requests. */
  readonly name: string;
  readonly #policy: ServedPolicy;
  readonly #otherNames: 'refuse' | 'serve';
  readonly #entries: Map<string, Entry>;
  readonly #turns: WeightTurns;
  #running = new AbortController();
  #lastVersion: number;
  #label: { readonly text: string; readonly version: number } | undefined;

  constructor({ policy, name, folder, otherNames }: ServedWeightsOptions) {
    this.name = name;
    this.#policy = policy;
    this.#otherNames = otherNames;
    this.#lastVersion = policy.policyVersion;
    this.#entries = new Map([[name, { name, path: folder, kind: 'base', version: policy.policyVersion }]]);
    this.#turns = new WeightTurns(name, (wanted) => this.#switchTo(wanted));
  }

  /** The model first, then its adapters. */
  get names(): readonly NamedWeights[] {
    return [...this.#entries.values()];
  }

  get isPaused(): boolean {
    return this.#turns.isPaused;
  }

  /** What clients called the weights in force, else their version. */
  get label(): string {
    return this.labelOf(this.#policy.policyVersion);
  }

  set label(text: string) {
    this.#label = { text, version: this.#policy.policyVersion };
  }

  /** What clients called the weights of a version, else the version. */
  labelOf(version: number): string {
    return this.#label?.version === version ? this.#label.text : String(version);
  }

  /** @throws ApiError 404 for a name that nobody serves. */
  resolve(name: string | undefined): string {
    if (name === undefined || this.#entries.has(name)) return name ?? this.name;
    if (this.#otherNames === 'serve') return this.name;
    const known = [...this.#entries.keys()].map((other) => `"${other}"`).join(', ');
    throw new ApiError(404, `The model "${name}" does not exist; this server has ${known}`, {
      ...{ code: 'model_not_found', param: 'model' },
    });
  }

  /** Runs work with weights in force. The signal aborts with the given one, or when the server drops its work. */
  use<Result>(
    name: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    return this.#turns.run(name, signal, () => withSignals([signal, this.#running.signal], work));
  }

  /**
   * Reads an adapter and puts it in force.
   *
   * @throws ApiError 400 for a name that is taken, unless `replace` is given, or an adapter that cannot be read.
   */
  async loadAdapter(name: string, path: string, existing: 'refuse' | 'replace' = 'refuse'): Promise<void> {
    const refuse = () => {
      const taken = this.#entries.get(name);
      if (taken === undefined || (existing === 'replace' && taken.kind === 'adapter')) return;
      throw new ApiError(400, `The lora adapter '${name}' has already been loaded.`);
    };
    refuse();
    await this.#turns.change(async () => {
      refuse();
      const version = ++this.#lastVersion;
      await this.#publish({ kind: 'adapter', version, path });
      this.#entries.set(name, { name, path, kind: 'adapter', version });
      return name;
    });
  }

  /** Forgets an adapter. Requests under way end with it. @throws ApiError 404 for a name that is not loaded. */
  unloadAdapter(name: string): void {
    if (this.#entries.get(name)?.kind === 'adapter') this.#entries.delete(name);
    else throw new ApiError(404, `The lora adapter '${name}' cannot be found.`);
  }

  /** Replaces the weights of the model by a checkpoint. Default: the one that it was loaded from. */
  async reload(given: string | undefined): Promise<void> {
    await this.#turns.change(async () => {
      const path = given ?? this.#entries.get(this.name)?.path;
      if (path === undefined) throw new ApiError(400, 'expected the folder of a checkpoint, got none');
      const version = ++this.#lastVersion;
      await this.#publish({ kind: 'checkpoint', version, path });
      this.#entries.set(this.name, { name: this.name, path, kind: 'base', version });
      return this.name;
    });
  }

  /** Lets new requests wait. `'wait'` resolves when those under way have ended, `'abort'` ends them. */
  async pause(running: 'wait' | 'abort'): Promise<void> {
    const paused = this.#turns.pause();
    if (running === 'abort') this.abortAll();
    await paused;
  }

  resume(): void {
    this.#turns.resume();
  }

  /** Ends all requests under way. */
  abortAll(): void {
    this.#running.abort(new ApiError(503, 'the server gave up the request', { code: 'aborted' }));
    this.#running = new AbortController();
  }

  async #switchTo(name: string): Promise<void> {
    const { kind, path, version } = this.#entries.get(name) ?? { kind: 'base' as const };
    if (path === undefined || version === undefined) {
      throw new ApiError(404, `The weights "${name}" are not here any more; load them again`, {
        code: 'model_not_found',
      });
    }
    await this.#publish({ kind: kind === 'adapter' ? 'adapter' : 'checkpoint', version, path });
  }

  async #publish(publication: {
    kind: 'adapter' | 'checkpoint';
    version: number;
    path: string;
  }): Promise<void> {
    const accepts: readonly PublicationForm[] = this.#policy.accepts ?? [];
    if (this.#policy.updateWeights === undefined || !accepts.includes(publication.kind)) {
      throw new ApiError(400, `this server does not take weights as ${publication.kind}`);
    }
    try {
      await this.#policy.updateWeights(publication);
    } catch (error) {
      if (error instanceof SamplerError || error instanceof ArgumentError) {
        throw new ApiError(400, messageOf(error));
      }
      throw error;
    }
  }
}
