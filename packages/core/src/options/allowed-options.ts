import type { ForeignNames } from './foreign-names.ts';

/** One option that a schema allows. */
export interface AllowedOption {
  /** Keys from the schema's root. `*` stands for an index or a key of a record. */
  readonly path: readonly string[];
  /** Strings that the option accepts by name, of an enum or of literals. */
  readonly values: readonly string[];
  /** What other libraries call the options below it. */
  readonly foreignNames: readonly ForeignNames[];
}

/** The parts of a zod definition that lead to further schemas, read structurally. */
interface Definition {
  readonly foreignNames?: ForeignNames;
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly values?: readonly unknown[];
  readonly options?: readonly unknown[];
  readonly innerType?: unknown;
  readonly element?: unknown;
  readonly keyType?: unknown;
  readonly valueType?: unknown;
  readonly in?: unknown;
  readonly out?: unknown;
  readonly left?: unknown;
  readonly right?: unknown;
}

/** Recursive schemas end here. */
const deepest = 6;

function definitionOf(schema: unknown): Definition {
  return (schema as { readonly _zod?: { readonly def?: Definition } } | undefined)?._zod?.def ?? {};
}

/** Schemas at the same place: what a wrapper wraps, the branches of a union. */
function schemasInside({
  innerType,
  in: before,
  out,
  left,
  right,
  options = [],
}: Definition): readonly unknown[] {
  return [innerType, before, out, left, right, ...options].filter((inner) => inner !== undefined);
}

function namedValues({ entries, values = [] }: Definition): string[] {
  return [...Object.values(entries ?? {}), ...values].filter((value) => typeof value === 'string');
}

function collect(schema: unknown, path: readonly string[], found: Map<string, AllowedOption>): void {
  if (path.length > deepest) return;
  const definition = definitionOf(schema);
  const key = path.join('.');
  const { values = [], foreignNames = [] } = found.get(key) ?? {};
  found.set(key, {
    path,
    values: [...new Set([...values, ...namedValues(definition)])],
    foreignNames: [...new Set([...foreignNames, ...[definition.foreignNames ?? []].flat()])],
  });
  for (const inner of schemasInside(definition)) collect(inner, path, found);
  const { element, keyType, valueType } = definition;
  if (element !== undefined) collect(element, [...path, '*'], found);
  // A record whose keys are listed is an object.
  const keys = namedValues(definitionOf(keyType));
  for (const name of valueType === undefined ? [] : keys.length > 0 ? keys : ['*'])
    collect(valueType, [...path, name], found);
  for (const [name, inner] of Object.entries(definition.shape ?? {})) collect(inner, [...path, name], found);
}

/** Every option that a zod schema allows, the root first. Empty for schemas of other libraries. */
export function allowedOptions(schema: unknown): readonly AllowedOption[] {
  const found = new Map<string, AllowedOption>();
  collect(schema, [], found);
  return [...found.values()];
}
