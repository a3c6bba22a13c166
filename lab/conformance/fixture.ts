import type { Operations } from './operations.ts';

/** One input/output pair of a fixture file. */
export interface FixtureCase {
  readonly id: string;
  readonly fn: string;
  // biome-ignore lint/suspicious/noExplicitAny: fixture inputs are JSON of many shapes; each adapter knows its own
  readonly inputs: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly params: any;
  readonly expected: unknown;
}

/** A fixture file. */
export interface Fixture {
  readonly name: string;
  readonly tolerance: { readonly abs: number; readonly rel: number };
  readonly cases: readonly FixtureCase[];
}

/** What an adapter answers for a case that our functions or options cannot express. */
export const unsupported = Symbol('unsupported');

/**
 * Computes a case with the packages' public functions, in the shape of its `expected`. It translates names and shapes and
 * never computes itself; whatever it cannot express is {@link unsupported}.
 */
export type Adapter = (fixtureCase: FixtureCase) => unknown;

/** An {@link Adapter} that computes over `TensorOps`: it runs once on each implementation. */
export type OperationsAdapter = (fixtureCase: FixtureCase, operations: Operations) => unknown;

/** {@link OperationsAdapter}s by fixture file name and case kind (`fn`). */
export type OperationsTable = Readonly<Record<string, Readonly<Record<string, OperationsAdapter>>>>;

/** Adapters by fixture file name and case kind (`fn`). */
export type AdapterTable = Readonly<Record<string, Readonly<Record<string, Adapter>>>>;

/**
 * The first difference between two JSON values, as a path and both values; `undefined` when they are equal within the
 * tolerance. Every key of `expected` must be there; numbers pass when `|got − expected| ≤ abs + rel·|expected|`.
 */
export function difference(
  got: unknown,
  expected: unknown,
  tolerance: Fixture['tolerance'],
  path = '',
): string | undefined {
  if (typeof expected === 'number') {
    const close =
      typeof got === 'number' &&
      Math.abs(got - expected) <= tolerance.abs + tolerance.rel * Math.abs(expected);
    return close ? undefined : `${path}: got ${got}, expected ${expected}`;
  }
  if (Array.isArray(expected)) {
    const list = ArrayBuffer.isView(got) ? [...(got as Float64Array)] : got;
    if (!Array.isArray(list) || list.length !== expected.length) {
      return `${path}: got ${JSON.stringify(got)}, expected ${expected.length} elements`;
    }
    return first(
      expected.map((value, index) => difference(list[index], value, tolerance, `${path}[${index}]`)),
    );
  }
  if (expected !== null && typeof expected === 'object') {
    const record = (got ?? {}) as Record<string, unknown>;
    return first(
      Object.entries(expected).map(([key, value]) =>
        difference(record[key], value, tolerance, `${path}.${key}`),
      ),
    );
  }
  return Object.is(got, expected) ? undefined : `${path}: got ${String(got)}, expected ${String(expected)}`;
}

function first(found: readonly (string | undefined)[]): string | undefined {
  return found.find((problem) => problem !== undefined);
}

/** The largest number of a JSON value, by size. */
function magnitude(value: unknown): number {
  if (typeof value === 'number') return Math.abs(value);
  if (value === null || typeof value !== 'object') return 0;
  return Object.values(value).reduce<number>((largest, item) => Math.max(largest, magnitude(item)), 0);
}

/**
 * What counts as equal in float32, whose unit roundoff u is 6e-8: inputs of size m are off by u·m, which exp makes a relative
 * error; and terms of a sum cancel at the scale of the largest result. So, over the file's own tolerance,
 * `5e-5 + 2e-7·m` relative, and `2e-6 + 6e-8·m` of the case's largest expected number (at least 1) absolute.
 */
export function floatTolerance(
  tolerance: Fixture['tolerance'],
  { inputs, expected }: FixtureCase,
): Fixture['tolerance'] {
  const size = magnitude(inputs);
  return {
    abs: tolerance.abs + (2e-6 + 6e-8 * size) * Math.max(1, magnitude(expected)),
    rel: tolerance.rel + 5e-5 + 2e-7 * size,
  };
}
