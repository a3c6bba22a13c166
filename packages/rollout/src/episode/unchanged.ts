import { EnvironmentError, isRecord, type State } from '@rlp/core';

/** Lists with more items are compared by their length only. */
const mostItems = 1024;

/** A list, a `Map`, a `Set` or a plain object of a state, and what it held. */
interface Remembered {
  readonly place: string;
  readonly value: object;
  readonly held: readonly unknown[];
}

function entriesOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return value.length > mostItems ? [value.length] : [...value];
  if (value instanceof Map) return value.size > mostItems ? [value.size] : [...value].flat();
  if (value instanceof Set) return value.size > mostItems ? [value.size] : [...value];
  return Object.entries(value).flat();
}

function isPlain(value: unknown): value is object {
  if (Array.isArray(value) || value instanceof Map || value instanceof Set) return true;
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype;
}

/** What may not change: what fields hold, and the rows of a list of lists. A field with a getter is computed from the others. */
function containersOf(state: object): readonly Remembered[] {
  return Object.entries(Object.getOwnPropertyDescriptors(state)).flatMap(([place, { value }]) => {
    if (!isPlain(value)) return [];
    const rows = Array.isArray(value) && value.length <= mostItems ? value.filter(Array.isArray) : [];
    return [value, ...rows].map((each) => ({ place, value: each, held: entriesOf(each) }));
  });
}

function isSame(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.length === after.length && before.every((item, k) => Object.is(item, after[k]));
}

/** The name of a field that changed since `before` was taken of the state. */
function changedField(before: object, inside: readonly Remembered[], state: object): string | undefined {
  const held = Object.getOwnPropertyDescriptors(before) as Readonly<Record<string, PropertyDescriptor>>;
  for (const [field, { get, value }] of Object.entries(Object.getOwnPropertyDescriptors(state))) {
    if (get === undefined && !Object.is(held[field]?.value, value)) return field;
  }
  return (
    Object.keys(before).find((field) => !Object.hasOwn(state, field)) ??
    inside.find(({ value, held }) => !isSame(held, entriesOf(value)))?.place
  );
}

/**
 * Remembers a state. The members of a group share their first state, so a change by one would reach the others.
 *
 * @returns A check that throws an `EnvironmentError` if the state has changed since: a field, or a list or object that a field holds.
 */
export function remembered(state: State): () => void {
  const before = { ...state };
  const inside = containersOf(state);
  return () => {
    const field = changedField(before, inside, state);
    if (field === undefined) return;
    const remedy = field === 'prompt' || field === 'response' ? 'response' : `${field}: …`;
    throw new EnvironmentError(
      `environment.updateState: expected the given state to stay as it was, got another "${field}" in it; ` +
        `return a new state, such as { ...state, ${remedy} }, because the episodes of a group share states`,
    );
  };
}
