import { OptionsError } from './errors.ts';

/** The part of the Standard Schema v1 interface we rely on; every zod 4 schema satisfies it. */
export interface Schema<Output> {
  readonly '~standard': {
    validate(value: unknown): SchemaResult<Output> | Promise<SchemaResult<Output>>;
  };
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Applies defaults and checks `input` against `schema`.
 *
 * @param owner - Whose options these are; begins the error message.
 * @throws {@link OptionsError} naming every problem at once.
 */
export function parseOptions<Output>(owner: string, schema: Schema<Output>, input: unknown): Output {
  const result = schema['~standard'].validate(input);
  if (result instanceof Promise) {
    // zod tries again asynchronously where a check threw; nobody waits for that, and its rejection would end the process.
    result.catch(() => undefined);
    throw new TypeError(`${owner}: option schemas must be synchronous, and their checks must not throw`);
  }
  if (result.issues) throw new OptionsError(owner, result.issues.map(formatIssue));
  return result.value;
}

function formatIssue({ path = [], message }: SchemaIssue): string {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return keys.length > 0 ? `${keys.join('.')}: ${message}` : message;
}
