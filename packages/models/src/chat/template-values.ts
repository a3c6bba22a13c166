import { Environment } from '@huggingface/jinja';

/** A value of a running template. */
export interface Value {
  readonly type: string;
  readonly value: unknown;
}

/** Variables of a running template. */
export interface Scope {
  /** Declares a variable of plain data. */
  set(name: string, data: unknown): Value;
  setVariable(name: string, value: Value): Value;
}

// The library's own declarations refer to files without their extensions, which TypeScript does not find.
export const LibraryScope = Environment as unknown as new () => Scope;

/** A number that was written with a point or an exponent, such as `1.0`. JavaScript takes it for a whole one. */
class WholeFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** Converts plain data to values of the template library. Numbers of {@link readJson} stay what they are. */
export function templateValue(data: unknown): Value {
  if (typeof data === 'bigint') return Object.assign(libraryValue(0), { value: data });
  if (data instanceof WholeFloat) return Object.assign(libraryValue(0.5), { value: data.value });
  if (Array.isArray(data)) return Object.assign(libraryValue([]), { value: data.map(templateValue) });
  if (typeof data !== 'object' || data === null) return libraryValue(data);
  const entries = Object.entries(data).map(([key, value]) => [key, templateValue(value)] as const);
  return Object.assign(libraryValue({}), { value: new Map(entries) });
}

function libraryValue(data: unknown): Value {
  return new LibraryScope().set('value', data);
}

/** Python's `dict`: the entries of objects and the named values, which the library gives as an object too. */
export function dictFunction(): Value {
  const value = (given: readonly Value[]) => {
    if (!given.every((each) => each.value instanceof Map))
      throw new Error('dict: expected an object or named values; pass those');
    const entries = given.flatMap((each) => [...(each.value as ReadonlyMap<string, Value>)]);
    return Object.assign(libraryValue({}), { value: new Map(entries) });
  };
  return Object.assign(
    libraryValue(() => null),
    { value },
  );
}

/** A string, a number that has a reading of its own, or the key of an entry. */
const jsonToken = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|-?\d[\d.eE+-]*/g;

/**
 * Parses JSON as Python does: integers of any length, and floats that stay floats.
 *
 * @throws SyntaxError if it is no JSON.
 */
export function readJson(text: string): unknown {
  JSON.parse(text);
  // Each number becomes a string, and a letter tells it from the others. Keys stay as they are.
  const marked = text.replace(jsonToken, (token, string?: string, colon?: string) => {
    if (string === undefined) return `"n${token}"`;
    return colon === undefined ? `"s${string.slice(1)}` : token;
  });
  return JSON.parse(marked, (_, value: unknown) => {
    if (typeof value !== 'string') return value;
    return value.startsWith('n') ? numberOf(value.slice(1)) : value.slice(1);
  });
}

function numberOf(source: string): number | bigint | WholeFloat {
  const value = Number(source);
  if (/[.eE]/.test(source)) return Number.isInteger(value) ? new WholeFloat(value) : value;
  return Number.isSafeInteger(value) ? value + 0 : BigInt(source);
}
