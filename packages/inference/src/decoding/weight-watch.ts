import type { EngineHost, ParameterStore } from '@rlp/onnx/runtime';

/** Number of values of each parameter that are compared. */
const LOOKED_AT = 8;

/**
 * Notices changes of the weights in a store, such as those of a trainer that shares it.
 *
 * It compares a few values of each parameter. An update changes nearly all of them.
 */
export class WeightWatch {
  readonly #store: ParameterStore;
  readonly #watched: readonly string[];
  #seen: readonly unknown[];

  /** @param watched - Names of the parameters that are compared. Default: all. */
  constructor(host: EngineHost, store: string, watched?: readonly string[]) {
    this.#store = host.store(store);
    this.#watched = watched ?? this.#store.parameters.map(({ name }) => name);
    this.#seen = this.#look();
  }

  /** Whether weights differ from those of the last call. */
  changed(): boolean {
    const present = this.#look();
    const unchanged = present.every((seen, at) => Object.is(seen, this.#seen[at]));
    this.#seen = present;
    return !unchanged;
  }

  #look(): unknown[] {
    const { residency, revision } = this.#store;
    if (residency === 'device') return [revision];
    return this.#watched.flatMap((name) => {
      const data = this.#store.data(name);
      return Array.from(
        { length: LOOKED_AT },
        (_, at) => data[Math.floor(((at + 0.5) * data.length) / LOOKED_AT)],
      );
    });
  }
}
