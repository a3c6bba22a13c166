import { described } from '../described.ts';
import { ArgumentError } from '../errors.ts';
import { isPromiseLike } from '../settle-within.ts';
import { nearNames } from './near-names.ts';

/** An array, an array of numbers of any library, or another object with a length. */
function isList(value: unknown): value is ArrayLike<unknown> {
  return typeof value === 'object' && typeof (value as { length?: unknown } | null)?.length === 'number';
}

/** A function with properties and a class with static methods have fields, too. */
const isObject = (value: unknown) =>
  typeof value === 'function' || (typeof value === 'object' && value !== null && !Array.isArray(value));

/** Kinds of values: how a message names them, and whether a value is one. */
const kinds = {
  text: ['text', (value: unknown) => typeof value === 'string'],
  number: ['a number', (value: unknown) => typeof value === 'number' && !Number.isNaN(value)],
  function: ['a function', (value: unknown) => typeof value === 'function'],
  object: ['an object', isObject],
  list: ['a list', isList],
  given: ['given', (value: unknown) => value !== undefined && value !== null],
  operations: [
    'operations on tensors, such as new Tape() of @rlp/tensor',
    (value: unknown) => typeof (value as { constant?: unknown } | undefined | null)?.constant === 'function',
  ],
} as const;

type Single = keyof typeof kinds;

/** What an argument has to be; the plural is a list of such. With `?` it may be left out. */
export type ArgumentKind = Single | `${Single}s` | `${Single}?` | `${Single}s?`;

type Fault = readonly [place: string, expected: string, value: unknown];

function faultOf(name: string, value: unknown, kind: string): Fault | undefined {
  if (kind in kinds) {
    const [words, isRight] = kinds[kind as Single];
    return isRight(value) ? undefined : [name, words, value];
  }
  const element = kind.slice(0, -1) as Single;
  const [words, isRight] = kinds[element];
  if (!isList(value)) return [name, `a list of ${element}s`, value];
  for (let index = 0; index < value.length; index++) {
    if (!isRight(value[index])) return [`${name}[${index}]`, words, value[index]];
  }
  return undefined;
}

function require(
  owner: string,
  name: string,
  value: unknown,
  kind: ArgumentKind,
  unknown: readonly string[] = [],
): void {
  const isOptional = kind.endsWith('?');
  if (isOptional && value === undefined) return;
  const fault = faultOf(name, value, isOptional ? kind.slice(0, -1) : kind);
  if (fault === undefined) return;
  const [place, expected, wrong] = fault;
  const [other] = value === undefined ? nearNames(name, unknown, (key) => key) : [];
  const hint = isPromiseLike(wrong) ? '; await the promise' : other && `; did you mean ${name} by ${other}?`;
  throw new ArgumentError(`${owner}: ${place} must be ${expected}, got ${described(wrong)}${hint ?? ''}`);
}

/**
 * Checks the kinds of the arguments of a public function, so that a wrong one is named before it is used.
 *
 * @param owner - The function. Begins the error message.
 * @param expected - Kinds of the arguments by name, in their order.
 * @throws ArgumentError naming the first that is of another kind, what was expected and what came.
 */
export function requireArguments(
  owner: string,
  expected: Readonly<Record<string, ArgumentKind>>,
  ...values: readonly unknown[]
): void {
  let index = 0;
  for (const name in expected) require(owner, name, values[index++], expected[name]!);
}

/**
 * Checks the kinds of the fields of an argument, as {@link requireArguments} does, and returns it.
 *
 * @throws ArgumentError for what is not an object, or naming the first field of another kind.
 */
export function requireFields<Given>(
  owner: string,
  expected: Readonly<Record<string, ArgumentKind>>,
  given: Given,
): Given {
  const isBare = typeof given === 'function' && Object.keys(expected).every((name) => !(name in given));
  if (!isObject(given) || isBare) {
    const fields = Object.keys(expected).join(', ');
    const what = fields === '' ? 'an object' : `an object with ${fields}`;
    const isClass = isBare && /^class\s/.test(String(given));
    const came = isClass ? `the class ${given.name}; write new ${given.name}()` : described(given);
    throw new ArgumentError(`${owner}: expected ${what}, got ${came}`);
  }
  for (const name in expected) {
    const value = (given as Record<string, unknown>)[name];
    const unknown =
      value === undefined ? Object.keys(given as object).filter((key) => !(key in expected)) : [];
    require(owner, name, value, expected[name]!, unknown);
  }
  return given;
}
