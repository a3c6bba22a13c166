/** JSON Schemas of options, for configuration files: as an editor completes them, with the sentences of the source. */

import * as z from 'zod';
import { grpoSchema } from '../../packages/algorithms/src/algorithm/grpo.ts';
import { ppoSchema } from '../../packages/algorithms/src/algorithm/ppo.ts';
import { reinforceSchema } from '../../packages/algorithms/src/algorithm/reinforce.ts';
import { rlooSchema } from '../../packages/algorithms/src/algorithm/rloo.ts';
import { rlSchema } from '../../packages/algorithms/src/loop/options.ts';
import { sftSchema } from '../../packages/algorithms/src/supervised/sft-options.ts';
import { optimizerSchema } from '../../packages/backprop/src/optimizer/options.ts';
import { rolloutSchema } from '../../packages/rollout/src/options.ts';
import { runSchema } from '../../packages/run/src/config/run-schema.ts';
import type { Compilation } from '../compiler.ts';
import ts from '../typescript.mjs';

/** Options that configuration files hold. */
const published = [
  { package: 'algorithms', name: 'grpo', type: 'GrpoOptions', schema: grpoSchema },
  { package: 'algorithms', name: 'ppo', type: 'PpoOptions', schema: ppoSchema },
  { package: 'algorithms', name: 'reinforce', type: 'ReinforceOptions', schema: reinforceSchema },
  { package: 'algorithms', name: 'rloo', type: 'RlooOptions', schema: rlooSchema },
  { package: 'algorithms', name: 'rl', type: 'RlOptions', schema: rlSchema },
  { package: 'algorithms', name: 'sft', type: 'SftOptions', schema: sftSchema },
  { package: 'backprop', name: 'optimizer', type: 'OptimizerOptions', schema: optimizerSchema },
  { package: 'rollout', name: 'rollout', type: 'RolloutOptions', schema: rolloutSchema },
  { package: 'run', name: 'run', type: 'RunConfig', schema: runSchema },
] as const;

/** A schema of draft 2020-12, as far as options need it. */
export interface JsonSchema {
  title?: string;
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  items?: JsonSchema;
  readOnly?: boolean;
}

/** A schema, and where its package publishes it. */
export interface OptionSchema {
  /** Relative to the repository's root. */
  readonly path: string;
  readonly schema: JsonSchema;
}

/** Whether JSON can say it: functions and objects with methods are schemas without a type. */
function isData(schema: JsonSchema): boolean {
  return Object.keys(schema).some((key) => key !== 'default');
}

/** Whether a field can be each of these constants. */
function includes(type: ts.Type, constants: readonly unknown[]): boolean {
  const parts = type.isUnion() ? type.types : [type];
  return constants.every((constant) => parts.some((part) => part.isLiteral() && part.value === constant));
}

/** The part of a type that a branch of a schema describes: it has all its fields, and their constants. */
function partFor(type: ts.Type, fields: Readonly<Record<string, JsonSchema>>, checker: ts.TypeChecker) {
  const parts = type.isUnion() ? type.types : [type];
  return parts.find((part) =>
    Object.entries(fields).every(([name, field]) => {
      const property = part.getProperty(name);
      if (property === undefined) return false;
      const texts = field.enum?.filter((each) => typeof each === 'string');
      const constants = field.const === undefined ? texts : [field.const];
      return constants === undefined || includes(checker.getTypeOfSymbol(property), constants);
    }),
  );
}

/** Leaves out what JSON cannot hold, and what says nothing about a file. */
function onlyData(schema: JsonSchema): JsonSchema {
  const { properties, anyOf, oneOf, items, readOnly: _, ...rest } = schema;
  const kept = Object.entries(properties ?? {}).filter(([, field]) => isData(field));
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(kept.map(([name, field]) => [name, onlyData(field)])),
    }),
    ...(items && { items: onlyData(items) }),
    ...(anyOf && { anyOf: anyOf.map(onlyData) }),
    ...(oneOf && { oneOf: oneOf.map(onlyData) }),
  };
}

/** The published schemas without descriptions. */
export function bareSchemas(): readonly (OptionSchema & { readonly owner: string; readonly type: string })[] {
  return published.map(({ package: owner, name, type, schema: source }) => {
    const { $schema, ...body } = z.toJSONSchema(source, { io: 'input', unrepresentable: 'any' });
    const schema = onlyData({ $schema, title: type, ...body } as JsonSchema);
    return { path: `packages/${owner}/dist/schemas/${name}.json`, owner, type, schema };
  });
}

/** Type of the elements of a list, if a value can be one. */
function elementOf(type: ts.Type, checker: ts.TypeChecker): ts.Type | undefined {
  const parts = type.isUnion() ? type.types : [type];
  return parts.find((part) => checker.isArrayLikeType(part))?.getNumberIndexType();
}

/** Writes the comments of a type's fields into its schema. */
export function describeFields(schema: JsonSchema, type: ts.Type, checker: ts.TypeChecker): void {
  for (const branch of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])])
    describeFields(branch, type, checker);
  const element = schema.items && elementOf(type, checker);
  if (element !== undefined) describeFields(schema.items!, element, checker);
  if (schema.properties === undefined) return;
  const part = partFor(type, schema.properties, checker);
  for (const [name, field] of Object.entries(schema.properties)) {
    const property = part?.getProperty(name);
    if (property === undefined) continue;
    const text = ts.displayPartsToString(property.getDocumentationComment(checker)).trim();
    if (text !== '') field.description = text.replace(/\s+/g, ' ');
    describeFields(field, checker.getTypeOfSymbol(property), checker);
  }
}

/** The published schemas, with titles, descriptions and defaults. */
export function optionSchemas({ checker, exportsOf }: Compilation): readonly OptionSchema[] {
  return bareSchemas().map(({ path, owner, type, schema }) => {
    const found = exportsOf(`packages/${owner}/src/index.ts`).find(({ name }) => name === type);
    if (found === undefined) throw new Error(`json-schemas: @rlp/${owner} does not export ${type}`);
    const symbol = found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
    describeFields(schema, checker.getDeclaredTypeOfSymbol(symbol), checker);
    return { path, schema };
  });
}

/** Fields of a schema without a sentence. */
export function undescribed({ properties = {}, anyOf = [], oneOf = [] }: JsonSchema, path: string): string[] {
  const own = Object.entries(properties).flatMap(([name, field]) => [
    ...(field.description === undefined ? [`${path}.${name}`] : []),
    ...undescribed(field, `${path}.${name}`),
  ]);
  return [...own, ...[...anyOf, ...oneOf].flatMap((branch) => undescribed(branch, path))];
}
