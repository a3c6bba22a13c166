import { UsageError } from './usage-error.ts';

/** Limits of a number that a flag takes. */
export interface NumberLimits {
  readonly least?: number | undefined;
  readonly most?: number | undefined;
  readonly kind?: 'integer' | 'any' | undefined;
}

/**
 * The number of a flag. `undefined` if the flag was not given.
 *
 * @throws UsageError for anything else than a number within the limits.
 */
export function numberOf(
  flag: string,
  text: string | undefined,
  { least = -Infinity, most = Infinity, kind = 'any' }: NumberLimits = {},
): number | undefined {
  if (text === undefined) return undefined;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  const isKind = kind === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (isKind && value >= least && value <= most) return value;
  const range = most === Infinity ? `from ${least}` : `from ${least} to ${most}`;
  throw new UsageError(
    `--${flag} must be ${kind === 'integer' ? 'an integer' : 'a number'} ${range}, got "${text}"`,
  );
}

/** A count of at least 1. */
export const countOf = (flag: string, text: string | undefined) =>
  numberOf(flag, text, { least: 1, kind: 'integer' });

/** Number of an engine's threads. */
export const threadsOf = (text: string | undefined) =>
  numberOf('threads', text, { least: 1, most: 1024, kind: 'integer' });

/** An object without the fields that are undefined. */
export function given<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
