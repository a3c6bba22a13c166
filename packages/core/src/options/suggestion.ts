import type { AllowedOption } from './allowed-options.ts';
import { nearNames, sameNames } from './near-names.ts';
import type { Reading } from './reading.ts';
import { ownerOf, translatedElsewhere, translatedHere, translatedInVain } from './translation.ts';

/** More keys than this are not listed. */
const listed = 15;

/** Names of the option that chooses one of several forms. */
const choices = ['kind', 'method', 'mode', 'name', 'type'];

/** More places than this are not told apart. */
const offered = 3;

function lastOf({ path }: AllowedOption): string {
  return path.at(-1) ?? '';
}

function matches(path: readonly string[], pattern: readonly string[]): boolean {
  return path.length === pattern.length && pattern.every((part, k) => part === '*' || part === path[k]);
}

function written({ path }: AllowedOption): string {
  return path.join('.');
}

/** Of many places, those that are least deep. */
function asked(options: readonly AllowedOption[]): string | undefined {
  const placesOf = (some: readonly AllowedOption[]) => [...new Set(some.map(written))];
  const least = Math.min(...options.map(({ path }) => path.length));
  const all = placesOf(options);
  const places = all.length > offered ? placesOf(options.filter(({ path }) => path.length === least)) : all;
  return places.length === 0 || places.length > offered ? undefined : `did you mean ${places.join(' or ')}?`;
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** What to write instead of a key that is not allowed at `path`. */
export function keySuggestion(key: string, path: readonly string[], reading: Reading): string | undefined {
  const { allowed } = reading;
  const own = allowed.filter((option) => option.path.length > 0 && matches(path, option.path.slice(0, -1)));
  const siblings = own
    .filter((option) => lastOf(option) !== key && lastOf(option) !== '*')
    .map((option) => ({ ...option, path: [...path, lastOf(option)] }));
  const elsewhere = allowed.filter(
    (option) => option.path.length > 0 && !option.path.includes('*') && !own.includes(option),
  );
  const below = elsewhere.filter(
    (option) =>
      path.length > 0 &&
      option.path.length === path.length + 2 &&
      matches(path, option.path.slice(0, path.length)),
  );
  const around = new Set(path.map((_, k) => path.slice(0, k + 1).join('.')));
  const isAbove = elsewhere.some((option) => written(option) === key);
  if (isAbove && path.length > 0) return `it belongs outside ${path.join('.')}`;
  const names = siblings.map(lastOf);
  const listing =
    names.length > 0 && names.length <= listed ? `expected one of: ${names.join(', ')}` : undefined;
  return (
    asked(sameNames(key, siblings, lastOf)) ??
    asked(choices.includes(key) ? siblings.filter((option) => choices.includes(lastOf(option))) : []) ??
    translatedHere(key, reading, path) ??
    asked(sameNames(key, below, lastOf)) ??
    // A neighbour with nearly this name is nearer than the same name somewhere else.
    asked(nearNames(key, siblings, lastOf)) ??
    asked(sameNames(key, elsewhere, lastOf)) ??
    translatedElsewhere(key, allowed) ??
    ownerOf(key, allowed) ??
    translatedInVain(key, allowed) ??
    translatedHere(snakeCase(key), reading, path) ??
    translatedElsewhere(snakeCase(key), allowed) ??
    // Within an object, its names say more than a similar one of another place.
    (path.length > 0 ? listing : undefined) ??
    asked(nearNames(key, elsewhere, lastOf).filter((option) => !around.has(written(option)))) ??
    listing
  );
}

/** The accepted values that a misspelt one was meant to be. */
export function valueSuggestion(
  value: unknown,
  path: readonly string[],
  { allowed }: Reading,
): string | undefined {
  if (typeof value !== 'string') return;
  const values = allowed.filter((option) => matches(path, option.path)).flatMap((option) => option.values);
  if (values.includes(value)) return;
  const near = meant(value, values);
  if (near.length > 0) return `did you mean ${near.map((name) => `'${name}'`).join(' or ')}?`;
  const isChoice = ({ path: inner }: AllowedOption) =>
    choices.includes(inner.at(-1) ?? '') && matches(path, inner.slice(0, -1));
  const [choice, ...others] = allowed.filter(isChoice);
  if (choice === undefined || values.length > 0 || others.length > 0) return;
  const one = meant(value, choice.values)[0] ?? choice.values[0];
  return one && `write { ${lastOf(choice)}: '${one}' }; it may be ${choice.values.join(', ')}`;
}

/** The names that a value is, apart from case and separators, or else those near to it. */
function meant(value: string, names: readonly string[]): string[] {
  const itself = (name: string) => name;
  const same = sameNames(value, names, itself);
  return same.length > 0 ? same : nearNames(value, names, itself);
}
