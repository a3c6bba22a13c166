import { FormatError } from '@rlp/core';
import * as z from 'zod';

/** A state as JSON data. */
export interface Saved<Schema extends z.ZodType> {
  readonly state: z.input<Schema>;
}

/** A copy of a state. It becomes JSON data when it is read, because few states are written. */
export function saved<Schema extends z.ZodType>(schema: Schema, state: z.output<Schema>): Saved<Schema> {
  const copy = structuredClone(state);
  let json: z.input<Schema> | undefined;
  return {
    get state() {
      json ??= z.encode(schema, copy);
      return json;
    },
  };
}

/** Reads what {@link saved} returned. @throws FormatError naming the problems. */
export function restored<Schema extends z.ZodType>(
  owner: string,
  schema: Schema,
  given: unknown,
): z.output<Schema> {
  const parsed = z.strictObject({ state: schema }).safeParse(given);
  if (parsed.success) return (parsed.data as { readonly state: z.output<Schema> }).state;
  throw new FormatError(
    `expected the state of a ${owner}, as saveState returns it: ${z.prettifyError(parsed.error)}`,
  );
}
