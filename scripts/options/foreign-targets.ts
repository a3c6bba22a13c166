/** Names of other libraries that schemas translate into options that are not there. */
import { allowedOptions } from '../../packages/core/src/options/allowed-options.ts';
import { runSchema } from '../../packages/run/src/config/run-schema.ts';
import type { Field } from './fields.ts';

/** Translations, below the schema of a run, that name no option of it and no field of any options type. */
export function foreignTargets(packages: readonly ReadonlyMap<string, Field>[]): string[] {
  const known = new Set(packages.flatMap((fields) => [...fields.keys()]));
  const allowed = allowedOptions(runSchema);
  const options = new Set(allowed.map(({ path }) => path.join('.')));
  const targets = allowed.flatMap(({ path, foreignNames }) =>
    foreignNames
      .flatMap((names) => Object.keys(names))
      .map((target) => ({ target, place: [...path, target].join('.') })),
  );
  // A schema that picks from another lacks options that this one has.
  const here = new Set(targets.flatMap(({ target, place }) => (options.has(place) ? [target] : [])));
  const all = new Set(targets.map(({ target }) => target));
  return [...all]
    .filter((target) => !target.includes(' ') && !known.has(target) && !here.has(target))
    .map((target) => `foreign names: ${target} is not an option`);
}
