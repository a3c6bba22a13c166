import { randomUUID } from 'node:crypto';
import { ApiError } from '../api-error.ts';

/** Weights that a sampling session samples with. */
export interface SamplingSession {
  readonly id: string;
  readonly baseModel: string;
  /** Path of published weights. Absent for the model's first weights. */
  readonly modelPath: string | undefined;
}

/** Sessions of clients. A session ends when its client gives no sign of life. */
export class Sessions {
  readonly #clock: () => number;
  readonly #sessionMs: number;
  readonly #seen = new Map<string, number>();
  readonly #sampling = new Map<string, SamplingSession>();

  constructor({ clock, sessionMs }: { readonly clock: () => number; readonly sessionMs: number }) {
    this.#clock = clock;
    this.#sessionMs = sessionMs;
  }

  open(): string {
    const id = randomUUID();
    this.#seen.set(id, this.#clock());
    return id;
  }

  /** @throws ApiError 404 for a session that ended or never was. */
  touch(id: string): void {
    if (!this.#seen.has(id)) throw new ApiError(404, `Session not found: ${id}; create another`);
    this.#seen.set(id, this.#clock());
  }

  /** Ends the sessions that gave no sign of life, and returns their names. */
  ended(): string[] {
    const before = this.#clock() - this.#sessionMs;
    const ended = [...this.#seen].flatMap(([id, seen]) => (seen < before ? [id] : []));
    for (const id of ended) this.#seen.delete(id);
    return ended;
  }

  addSampling(baseModel: string, modelPath: string | undefined): string {
    const id = randomUUID();
    this.#sampling.set(id, { id, baseModel, modelPath });
    return id;
  }

  /** @throws ApiError 404. */
  sampling(id: string): SamplingSession {
    const found = this.#sampling.get(id);
    if (found === undefined) throw new ApiError(404, `Sampler not found: ${id}`);
    return found;
  }
}
