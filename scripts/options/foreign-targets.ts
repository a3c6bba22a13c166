/** Names of other libraries that schemas translate into options that are not there. */
import { allowedOptions } from '../../packages/core/src/options/allowed-options.ts';
import { runSchema } from '../../packages/run/src/config/run-schema.ts';
import type { Field } from './fields.ts';

/** Translations, below the schema of a run, that name no option of it and no field of any options type. */
export function foreignTargets(packages: readonly ReadonlyMap<string, Field>[]): string[] {
  const known = new Set(packages.flatMap((fields) => [...fields.keys()]));
  const allowed = allowedOptions(runSchema);
  const here = new Set(allowed.map(({ path }) => path.join('.')));
  return allowed.flatMap(({ path, foreignNames }) =>
    foreignNames
      .flatMap((names) => Object.keys(names))
      .filter(
        (target) => !target.includes(' ') && !known.has(target) && !here.has([...path, target].join('.')),
      )
      .map((target) => `foreign names of ${path.join('.') || 'a run'}: ${target} is not an option`),
  );
}
