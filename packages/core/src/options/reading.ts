import type { AllowedOption } from './allowed-options.ts';

/** Options that were given, and those that the schema allows. */
export interface Reading {
  readonly input: unknown;
  readonly allowed: readonly AllowedOption[];
}

/** What was given at a place. */
export function valueAt({ input }: Reading, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined,
    input,
  );
}
