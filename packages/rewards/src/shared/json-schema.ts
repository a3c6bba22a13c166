import { dereference, type Schema, type SchemaDraft, Validator } from '@cfworker/json-schema';
import { messageOf, OptionsError } from '@rlp/core';

/** What a value breaks, a sentence with its place for each. None for a value that fits. */
export type JsonCheck = (value: unknown) => readonly string[];

const types = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'];
const schema: Schema = { $ref: '#' };
const schemas: Schema = { type: 'object', additionalProperties: schema };
const schemaList: Schema = { type: 'array', minItems: 1, items: schema };
const count: Schema = { type: 'integer', minimum: 0 };
const expression: Schema = { type: 'string', format: 'regex' };

const keywords = (rule: Schema, ...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, rule]));

/** What a schema has to be, so that a mistake in it is found when it is given, not as a failure of every response. */
const grammar = new Validator(
  {
    type: ['object', 'boolean'],
    properties: {
      type: { anyOf: [{ enum: types }, { type: 'array', minItems: 1, items: { enum: types } }] },
      pattern: expression,
      patternProperties: { ...schemas, propertyNames: expression },
      enum: { type: 'array' },
      required: { type: 'array', items: { type: 'string' } },
      items: { anyOf: [schema, schemaList] },
      ...keywords(schemas, 'properties', '$defs', 'definitions', 'dependentSchemas'),
      ...keywords(schemaList, 'allOf', 'anyOf', 'oneOf', 'prefixItems'),
      ...keywords(
        schema,
        'additionalProperties',
        'unevaluatedProperties',
        'propertyNames',
        'contains',
        'not',
      ),
      ...keywords(schema, 'additionalItems', 'unevaluatedItems', 'if', 'then', 'else'),
      ...keywords(count, 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'),
      ...keywords({ type: 'number' }, 'minimum', 'maximum', 'multipleOf'),
      ...keywords({ type: ['number', 'boolean'] }, 'exclusiveMinimum', 'exclusiveMaximum'),
      ...keywords({ type: 'string' }, '$ref', '$id', '$anchor', 'format'),
    },
  },
  '2020-12',
);

/**
 * Reads a JSON Schema of the draft that its `$schema` names (4, 7 or 2019-09), else of draft 2020-12.
 *
 * @param reasons - `'all'` of what a value breaks, or only the `'first'`, which is faster.
 * @throws OptionsError naming what is wrong with the schema, references that lead nowhere included.
 */
export function jsonSchemaCheck(owner: string, given: unknown, reasons: 'all' | 'first'): JsonCheck {
  const wanted = copyOf(owner, given);
  const problems = [...new Set(brokenRules(grammar, wanted))];
  if (problems.length > 0)
    throw new OptionsError(
      owner,
      problems.map((problem) => `schema ${problem}`),
    );
  const lost = unresolved(owner, wanted);
  if (lost.length > 0)
    throw new OptionsError(
      owner,
      lost.map((reference) => `schema: nothing is at ${reference}`),
    );
  const validator = new Validator(wanted, draftOf(wanted), reasons === 'first');
  return (value) => brokenRules(validator, value);
}

/** A copy, as the library marks what it reads. Its pattern for `url`, which the standard lacks, takes quadratic time. */
function copyOf(owner: string, given: unknown): Schema {
  const text = JSON.stringify(given);
  if (text === undefined)
    throw new OptionsError(owner, [`schema: expected a JSON Schema, got ${typeof given}`]);
  return JSON.parse(text, (key, value: unknown) =>
    key === 'format' && value === 'url' ? 'uri' : value,
  ) as Schema;
}

function brokenRules(validator: Validator, value: unknown): string[] {
  try {
    return validator
      .validate(value)
      .errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
  } catch (error) {
    if (error instanceof RangeError) return ['#: nested more deeply than can be followed'];
    throw error;
  }
}

/** References of a schema that lead nowhere. */
function unresolved(owner: string, wanted: Schema): string[] {
  try {
    const places = dereference(wanted);
    return Object.values(places).flatMap((place) => {
      const { $ref, __absolute_ref__ = $ref } = place as Schema;
      return __absolute_ref__ === undefined || __absolute_ref__ in places ? [] : [$ref!];
    });
  } catch (error) {
    throw new OptionsError(owner, [`schema: ${messageOf(error)}`]);
  }
}

function draftOf({ $schema }: Schema): SchemaDraft {
  const draft = /draft-0([4-7])|2019-09/.exec($schema ?? '');
  if (draft === null) return '2020-12';
  if (draft[1] === undefined) return '2019-09';
  return draft[1] === '4' ? '4' : '7';
}
