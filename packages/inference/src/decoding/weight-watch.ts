import type { EngineHost, ParameterStore } from '@rlp/onnx/runtime';

/** Values of each parameter that are compared, if all parameters are. */
const LOOKED_AT = 8;

/** Parameters of a store that are watched. */
interface Watched {
  readonly names: readonly string[];
  /** Values of each that are compared, at equal distances. */
  readonly values: number;
}

/**
 * Notices changes of the weights in a store, such as those of a trainer that shares it.
 *
 * It compares values of each parameter. An update changes nearly all of them.
 */
export class WeightWatch {
  readonly #store: ParameterStore;
  readonly #watched: Watched;
  #seen: readonly unknown[];

  /** @param watched - Default: a few values of all parameters. */
  constructor(host: EngineHost, store: string, watched?: Watched) {
    this.#store = host.store(store);
    const all = this.#store.parameters.map(({ name }) => name);
    this.#watched = watched ?? { names: all, values: LOOKED_AT };
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
    const { names, values } = this.#watched;
    return names.flatMap((name) => {
      const data = this.#store.data(name);
      return Array.from({ length: values }, (_, at) => data[Math.floor(((at + 0.5) * data.length) / values)]);
    });
  }
}
