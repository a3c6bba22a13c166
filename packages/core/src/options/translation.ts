import type { AllowedOption } from './allowed-options.ts';
import { type Reading, valueAt } from './reading.ts';

/** Targets that each schema gives a name of another library, with the path of the schema. Those of one schema are meant together. */
function targetsOf(name: string, allowed: readonly AllowedOption[]) {
  return allowed.flatMap(({ path, foreignNames }) =>
    foreignNames.map((names) => ({
      path,
      targets: Object.keys(names).filter((target) => names[target]!.split(' ').includes(name)),
    })),
  );
}

/** `Interface.path` or advice, and not an option of the schema that says so. */
function isOutside(target: string): boolean {
  return /^[A-Z]| /.test(target);
}

/** Steps from an object to an option. Of equally many, those into objects that were given are shorter. */
function distance(from: readonly string[], to: readonly string[], reading: Reading): number {
  const parting = to.findIndex((part, k) => part !== from[k]);
  const missing = to.filter((_, k) => k > 0 && valueAt(reading, to.slice(0, k)) === undefined);
  return from.length + to.length - 2 * (parting < 0 ? to.length : parting) + missing.length / 10;
}

/** The options of this schema that another library gives this name: those nearest to the object at `near`. */
export function translatedHere(name: string, reading: Reading, near: readonly string[]): string | undefined {
  const { allowed } = reading;
  const found = targetsOf(name, allowed).flatMap(({ path, targets }) => {
    const places = targets.map((target) => [...path, target].join('.'));
    const here = allowed.map((option) => option.path).filter((each) => places.includes(each.join('.')));
    const text = here.map((each) => each.join('.')).join(' and ');
    return here.length === 0
      ? []
      : [{ text, away: Math.min(...here.map((each) => distance(near, each, reading))) }];
  });
  const least = Math.min(...found.map(({ away }) => away));
  const nearest = new Set(found.flatMap(({ text, away }) => (away === least ? [text] : [])));
  return nearest.size === 0 ? undefined : `in rlp this is ${[...nearest].join(' or ')}`;
}

/** Our name of an option of another library that these options lack. */
export function translatedInVain(name: string, allowed: readonly AllowedOption[]): string | undefined {
  const target = targetsOf(name, allowed)
    .flatMap(({ targets }) => targets)
    .find((each) => !isOutside(each));
  return target && `in rlp this is ${target}, which is no option here`;
}

/** Where an option that another library gives this name is instead, or what to do instead. */
export function translatedElsewhere(name: string, allowed: readonly AllowedOption[]): string | undefined {
  const target = targetsOf(name, allowed)
    .flatMap(({ targets }) => targets)
    .find(isOutside);
  if (target === undefined || target.includes(' ')) return target;
  const [type, ...path] = target.split('.');
  return `in rlp this is ${path.join('.')} of ${type}`;
}

/** The interface that has an option of this very name, if this schema points to it. */
export function ownerOf(name: string, allowed: readonly AllowedOption[]): string | undefined {
  const targets = allowed.flatMap(({ foreignNames }) => foreignNames.flatMap((names) => Object.keys(names)));
  const owner = targets.find((each) => isOutside(each) && each.slice(each.indexOf('.') + 1) === name);
  return owner && `it is an option of ${owner.split('.')[0]}`;
}
