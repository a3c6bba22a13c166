import type * as z from 'zod';

/**
 * Names that other libraries have for what a schema holds, separated by spaces.
 *
 * A key is an option below the schema such as `sampling.maxTokens`, an option of another interface such as `GaeOptions.discount`, or
 * advice, which has spaces.
 */
export type ForeignNames = Readonly<Record<string, string>>;

/**
 * The schema, which knows names of other libraries from then on. `parseOptions` answers such a name with ours.
 *
 * What extends the schema, picks from it or nests it knows them too.
 */
export function withForeignNames<Schema extends z.ZodType>(schema: Schema, names: ForeignNames): Schema {
  const { foreignNames, ...def } = schema._zod.def as typeof schema._zod.def & {
    foreignNames?: ForeignNames;
  };
  return schema.clone({ ...def, foreignNames: { ...foreignNames, ...names } } as typeof schema._zod.def);
}
