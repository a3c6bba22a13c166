import type { EngineHost, ParameterStore } from '@rlp/onnx/runtime';

/** Numbers of each parameter that are looked at. */
const LOOKED_AT = 8;

/**
 * Notices that weights in a store were changed, by a trainer that shares it for example.
 *
 * Few numbers of each parameter are compared. An update changes nearly all of them.
 */
export class WeightWatch {
  readonly #store: ParameterStore;
  #seen: readonly unknown[];

  constructor(host: EngineHost, store: string) {
    this.#store = host.store(store);
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
    const { parameters, residency, revision } = this.#store;
    if (residency === 'device') return [revision];
    return parameters.flatMap(({ name }) => {
      const data = this.#store.data(name);
      return Array.from(
        { length: LOOKED_AT },
        (_, at) => data[Math.floor(((at + 0.5) * data.length) / LOOKED_AT)],
      );
    });
  }
}
