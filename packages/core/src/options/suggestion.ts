import type { AllowedOption } from './allowed-options.ts';
import { foreignNames } from './foreign-names.ts';
import { nearNames, sameNames } from './near-names.ts';

/** More keys than this are not listed. */
const listed = 12;

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

function endsWith(path: readonly string[], end: readonly string[]): boolean {
  return path.length >= end.length && end.every((part, k) => part === path[path.length - end.length + k]);
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

/** Where `Interface.path` stands in this schema, if it does. Options below `near` come first. */
function placeOf(
  target: string,
  allowed: readonly AllowedOption[],
  near: readonly string[],
): string | undefined {
  const path = target.split('.').slice(1);
  const options = allowed.filter((option) => option.path.length > 0);
  const ends = options.filter((option) => endsWith(option.path, path));
  const below = ends.filter((option) => near.every((part, k) => part === option.path[k]));
  const longer = below.length > 0 ? below : ends;
  const shorter = options.filter((option) => endsWith(path, option.path));
  const byLength = (p: AllowedOption, q: AllowedOption) => p.path.length - q.path.length;
  const best = longer.sort(byLength)[0] ?? shorter.sort(byLength).at(-1);
  return best === undefined ? undefined : written(best);
}

/** `path of Interface` */
function named(target: string): string {
  const [type, ...path] = target.split('.');
  return `${path.join('.')} of ${type}`;
}

interface Translation {
  readonly text: string;
  /** Whether the schema at hand has the option. */
  readonly isHere: boolean;
}

/** What a name of TRL, verl, OpenRLHF or tinker-cookbook is in rlp, or what to do instead. */
function translated(
  name: string,
  allowed: readonly AllowedOption[],
  near: readonly string[],
): Translation | undefined {
  const entry = Object.hasOwn(foreignNames, name) ? foreignNames[name] : undefined;
  if (entry === undefined) return;
  if (entry.includes(' ')) return { text: entry, isHere: false };
  const targets = entry.split('+').map((target) => ({ target, place: placeOf(target, allowed, near) }));
  const places = targets.map(({ target, place }) => place ?? named(target));
  const isHere = targets.some(({ place }) => place !== undefined);
  return { text: `in rlp this is ${places.join(' and ')}`, isHere };
}

/** The interface that has an option of this very name, if there is one among the places that other libraries' names point to. */
function ownerOf(name: string): string | undefined {
  const places = Object.values(foreignNames).flatMap((entry) =>
    entry.includes(' ') ? [] : entry.split('+'),
  );
  const owners = new Set(
    places
      .map((place) => place.split('.'))
      .flatMap(([type, ...path]) => (path.join('.') === name ? type! : [])),
  );
  const [owner] = owners;
  return owners.size === 1 ? `it is an option of ${owner}` : undefined;
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** What to write instead of a key that is not allowed at `path`. */
export function keySuggestion(
  key: string,
  path: readonly string[],
  allowed: readonly AllowedOption[],
): string | undefined {
  const own = allowed.filter((option) => option.path.length > 0 && matches(path, option.path.slice(0, -1)));
  const siblings = own
    .filter((option) => lastOf(option) !== key && lastOf(option) !== '*')
    .map((option) => ({ ...option, path: [...path, lastOf(option)] }));
  const elsewhere = allowed.filter(
    (option) => option.path.length > 0 && !option.path.includes('*') && !own.includes(option),
  );
  const isAbove = elsewhere.some((option) => written(option) === key);
  if (isAbove && path.length > 0) return `it belongs outside ${path.join('.')}`;
  const names = siblings.map(lastOf);
  const translation = translated(key, allowed, path);
  return (
    asked(sameNames(key, siblings, lastOf)) ??
    asked(choices.includes(key) ? siblings.filter((option) => choices.includes(lastOf(option))) : []) ??
    (translation?.isHere ? translation.text : undefined) ??
    // A neighbour with nearly this name is nearer than the same name somewhere else.
    asked(nearNames(key, siblings, lastOf)) ??
    asked(sameNames(key, elsewhere, lastOf)) ??
    translation?.text ??
    ownerOf(key) ??
    asked(nearNames(key, elsewhere, lastOf)) ??
    translated(snakeCase(key), allowed, path)?.text ??
    (names.length > 0 && names.length <= listed ? `expected one of: ${names.join(', ')}` : undefined)
  );
}

/** The accepted values that a misspelt one was meant to be. */
export function valueSuggestion(
  value: unknown,
  path: readonly string[],
  allowed: readonly AllowedOption[],
): string | undefined {
  if (typeof value !== 'string') return;
  const values = allowed.filter((option) => matches(path, option.path)).flatMap((option) => option.values);
  if (values.includes(value)) return;
  const itself = (name: string) => name;
  const same = sameNames(value, values, itself);
  const near = same.length > 0 ? same : nearNames(value, values, itself);
  return near.length === 0 ? undefined : `did you mean ${near.map((name) => `'${name}'`).join(' or ')}?`;
}
