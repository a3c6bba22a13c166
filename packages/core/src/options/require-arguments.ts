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

/** What an argument has to be; the plural is a list of such, with `[]` a list of lists. With `?` it may be left out. */
export type ArgumentKind = `${Single}${'' | 's' | 's[]'}${'' | '?'}`;

type Check = (value: unknown) => boolean;

/** Checks of kinds that were asked for. Losses check their arguments for every number, so a kind is read once. */
const checks = new Map<string, Check>();

function checkOf(kind: string): Check {
  const known = checks.get(kind);
  if (known !== undefined) return known;
  const made = newCheck(kind);
  checks.set(kind, made);
  return made;
}

function newCheck(kind: string): Check {
  if (kind in kinds) return kinds[kind as Single][1];
  const inner = checkOf(elementOf(kind));
  if (kind.endsWith('?')) return (value) => value === undefined || inner(value);
  return (value) => isList(value) && badElement(value, inner) === undefined;
}

/** The kind without `?`, or that of a list's elements. */
const elementOf = (kind: string) => kind.replace(/(?:\[\]|s|\?)$/, '');

function badElement(list: ArrayLike<unknown>, isRight: Check): number | undefined {
  for (let index = 0; index < list.length; index++) if (!isRight(list[index])) return index;
  return undefined;
}

/** The error of an argument of another kind. `unknown`: names that were given and mean nothing. */
function kindError(
  place: string,
  value: unknown,
  kind: string,
  unknown: readonly string[] = [],
): ArgumentError {
  const needed = kind.replace(/\?$/, '');
  const element = elementOf(needed);
  const index = needed in kinds || !isList(value) ? undefined : badElement(value, checkOf(element));
  if (index !== undefined)
    return kindError(`${place}[${index}]`, (value as ArrayLike<unknown>)[index], element);
  const many = needed.endsWith('[]') ? `lists of ${element}` : needed;
  const words = needed in kinds ? kinds[needed as Single][0] : `a list of ${many}`;
  const name = place.slice(place.indexOf(': ') + 2);
  const [other] = value === undefined ? nearNames(name, unknown, (key) => key) : [];
  const hint = isPromiseLike(value) ? '; await the promise' : other && `; did you mean ${name} by ${other}?`;
  return new ArgumentError(`${place} must be ${words}, got ${described(value)}${hint ?? ''}`);
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
  for (const name in expected) {
    const value = values[index++];
    if (!checkOf(expected[name]!)(value)) throw kindError(`${owner}: ${name}`, value, expected[name]!);
  }
}

/**
 * Checks that an argument is one of the names that a function knows. Another would be taken for the last of them.
 *
 * @throws ArgumentError naming what came, what was expected and what was probably meant.
 */
export function requireChoice(owner: string, name: string, value: unknown, choices: readonly string[]): void {
  if (choices.some((choice) => choice === value)) return;
  const [near] = typeof value === 'string' ? nearNames(value, choices, (choice) => choice) : [];
  const hint = near === undefined ? '' : `; did you mean '${near}'?`;
  throw new ArgumentError(
    `${owner}: ${name} must be one of ${choices.join(', ')}, got ${described(value)}${hint}`,
  );
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
    if (checkOf(expected[name]!)(value)) continue;
    const unknown = Object.keys(given as object).filter((key) => !(key in expected));
    throw kindError(`${owner}: ${name}`, value, expected[name]!, unknown);
  }
  return given;
}
