/** Names of other libraries that core translates into options that are not there. */
import { foreignNames } from '../../packages/core/src/options/foreign-names.ts';
import type { Field } from './fields.ts';

/** Translations that name no field of any options type. */
export function foreignTargets(packages: readonly ReadonlyMap<string, Field>[]): string[] {
  const known = new Set(packages.flatMap((fields) => [...fields.keys()]));
  return Object.entries(foreignNames).flatMap(([name, places]) =>
    places.includes(' ')
      ? []
      : places
          .split('+')
          .filter((place) => !known.has(place))
          .map((place) => `foreign name ${name}: ${place} is not an option`),
  );
}
