import { OptionsError } from '../errors.ts';
import { allowedOptions } from './allowed-options.ts';
import { problemsOf, type SchemaIssue } from './problems.ts';

/** The part of the Standard Schema v1 interface we rely on. Every zod 4 schema satisfies it. */
export interface Schema<Output> {
  readonly '~standard': {
    validate(value: unknown): SchemaResult<Output> | Promise<SchemaResult<Output>>;
  };
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/**
 * Applies defaults and checks `input` against `schema`.
 *
 * The error names every problem at once. For zod schemas it also says what a misspelt option or value was meant to be, and
 * what the names of other libraries are here. See `withForeignNames`.
 *
 * @param owner - The function or class that takes the options. Begins the error message.
 * @param type - The options' interface, such as `RlOptions`. The error message names it.
 * @throws OptionsError
 */
export function parseOptions<Output>(
  owner: string,
  schema: Schema<Output>,
  input: unknown,
  type?: string,
): Output {
  const result = schema['~standard'].validate(input);
  if (result instanceof Promise) {
    // If a check threw, zod tries again asynchronously. Nobody awaits that, and its rejection would end the process.
    result.catch(() => undefined);
    throw new TypeError(`${owner}: option schemas must be synchronous, and their checks must not throw`);
  }
  if (result.issues) {
    throw new OptionsError(
      owner,
      problemsOf(result.issues, { input, allowed: allowedOptions(schema) }),
      type,
    );
  }
  return result.value;
}
