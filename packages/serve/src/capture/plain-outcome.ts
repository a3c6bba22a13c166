import { described, messageOf } from '@rlp/core';
import { withoutKey } from './without-key.ts';

/** An agent's result as plain data. */
export interface PlainOutcome {
  /** Absent if nothing of the result can be kept. */
  readonly value?: unknown;
  /** Says what could not be kept as it was. */
  readonly note?: string | undefined;
}

/** Places that a note names. */
const shownPlaces = 3;

/**
 * A copy of an agent's result that JSON can hold: only records leave the process.
 *
 * An error becomes `{ name, message }` with its fields and cause. An object of a class keeps its fields and what its getters return. What
 * JSON would lose or change, such as a `Map`, `NaN` or a function, is left out and named in the note. A list keeps `null` in its place.
 *
 * @param apiKey - Key of the episode. Texts do not show it.
 */
export function plainOutcome(result: unknown, apiKey: string): PlainOutcome {
  const copy = new PlainCopy(apiKey);
  const value = copy.ofResult(result);
  const lost = [...copy.lost];
  if (lost.length === 0) return { value };
  const more = lost.length > shownPlaces ? ` and ${lost.length - shownPlaces} more` : '';
  const note =
    `the agent's result cannot be kept as it is: ${lost.slice(0, shownPlaces).join(', ')}${more}; return text, finite numbers, lists ` +
    'and plain objects';
  return { value, note };
}

const underWay = Symbol('under way');

class PlainCopy {
  /** What was lost or changed, and where. */
  readonly lost = new Set<string>();
  readonly #copies = new Map<object, unknown>();
  readonly #apiKey: string;

  constructor(apiKey: string) {
    this.#apiKey = apiKey;
  }

  /** The copy of all. `undefined` if it cannot be kept, such as of what throws when it is read. */
  ofResult(result: unknown): unknown {
    try {
      return this.of(result, 'outcome');
    } catch (error) {
      return this.#lose(`outcome cannot be read (${messageOf(error)})`);
    }
  }

  /** The copy of a value. `undefined` if it cannot be kept. */
  of(value: unknown, place: string): unknown {
    if (typeof value === 'string') return withoutKey(value, this.#apiKey);
    if (typeof value === 'number') return Number.isFinite(value) ? value : this.#lose(`${place} is ${value}`);
    if (['bigint', 'function', 'symbol'].includes(typeof value))
      return this.#lose(`${place} is a ${typeof value}`);
    if (typeof value !== 'object' || value === null) return value;
    const before = this.#copies.get(value);
    if (before === underWay) return this.#lose(`${place} refers to itself`);
    if (this.#copies.has(value)) return before;
    this.#copies.set(value, underWay);
    const copy = this.#ofObject(value, place);
    this.#copies.set(value, copy);
    return copy;
  }

  #ofObject(value: object, place: string): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#ofItem(item, `${place}[]`));
    if (value instanceof Error) {
      const { name, message, cause } = value;
      return {
        ...this.#fields(value, Object.keys(value), place),
        ...this.#fields({ name, message, cause }, ['name', 'message', 'cause'], place),
      };
    }
    const isBuiltIn = Object.prototype.toString.call(value) !== '[object Object]';
    if ('toJSON' in value && typeof value.toJSON === 'function' && !ArrayBuffer.isView(value)) {
      const json: unknown = value.toJSON('');
      if (isBuiltIn)
        this.lost.add(
          `${place} is ${described(value)} and becomes ${described(json).replace(/^".*/s, 'text')}`,
        );
      return this.of(json, place);
    }
    if (isBuiltIn) {
      if (value instanceof Promise) value.catch(() => undefined); // nobody else waits for it
      return this.#lose(`${place} is ${described(value)}`);
    }
    return this.#fields(value, [...Object.keys(value), ...gettersOf(value)], place);
  }

  #ofItem(item: unknown, place: string): unknown {
    if (item === undefined) this.#lose(`${place} is undefined`);
    return this.of(item, place) ?? null;
  }

  #fields(value: object, names: readonly string[], place: string): object {
    const fields = names.flatMap((name) => {
      const copy = this.#field(value, name, `${place}.${name}`);
      return copy === undefined ? [] : [[name, copy] as const];
    });
    return Object.fromEntries(fields);
  }

  #field(value: object, name: string, place: string): unknown {
    let field: unknown;
    try {
      field = Reflect.get(value, name);
    } catch (error) {
      return this.#lose(`${place} throws ${JSON.stringify(messageOf(error))}`);
    }
    return this.of(field, place);
  }

  #lose(what: string): undefined {
    this.lost.add(what);
  }
}

/** Names of the getters of an object's classes. */
function gettersOf(value: object): string[] {
  const names: string[] = [];
  let prototype: object | null = Object.getPrototypeOf(value);
  while (prototype !== null && prototype !== Object.prototype) {
    for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      if (get !== undefined && name !== '__proto__') names.push(name);
    prototype = Object.getPrototypeOf(prototype);
  }
  return names;
}
