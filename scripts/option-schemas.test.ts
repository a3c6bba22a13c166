import { type Schema, Validator } from '@cfworker/json-schema';
import { describe, expect, it } from 'vitest';
import { bareSchemas, describeFields } from './options/json-schemas.ts';
import ts from './typescript.mjs';

const schemas = new Map(bareSchemas().map(({ path, schema }) => [path, schema]));
const named = (path: string) => schemas.get(`packages/${path}.json`)!;

/** The keywords of draft 2020-12 that options use, and what each holds. */
const metaSchema = {
  $ref: '#/$defs/schema',
  $defs: {
    type: { enum: ['object', 'string', 'number', 'integer', 'boolean', 'array'] },
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        $schema: { const: 'https://json-schema.org/draft/2020-12/schema' },
        title: { type: 'string' },
        description: { type: 'string', minLength: 1 },
        default: true,
        const: true,
        type: {
          anyOf: [{ $ref: '#/$defs/type' }, { type: 'array', items: { $ref: '#/$defs/type' }, minItems: 1 }],
        },
        enum: { type: 'array', minItems: 1 },
        properties: { type: 'object', additionalProperties: { $ref: '#/$defs/schema' } },
        required: { type: 'array', items: { type: 'string' } },
        additionalProperties: { anyOf: [{ type: 'boolean' }, { $ref: '#/$defs/schema' }] },
        propertyNames: { $ref: '#/$defs/schema' },
        items: { anyOf: [{ const: false }, { $ref: '#/$defs/schema' }] },
        prefixItems: { type: 'array', minItems: 1, items: { $ref: '#/$defs/schema' } },
        anyOf: { type: 'array', minItems: 1, items: { $ref: '#/$defs/schema' } },
        oneOf: { type: 'array', minItems: 1, items: { $ref: '#/$defs/schema' } },
        minimum: { type: 'number' },
        maximum: { type: 'number' },
        exclusiveMinimum: { type: 'number' },
        exclusiveMaximum: { type: 'number' },
        format: { enum: ['uri'] },
        minLength: { type: 'integer', minimum: 0 },
        minItems: { type: 'integer', minimum: 0 },
        maxItems: { type: 'integer', minimum: 0 },
      },
    },
  },
} satisfies Schema;

describe.each([...schemas])('%s', (_, schema) => {
  it('is a schema of draft 2020-12', () => {
    expect(new Validator(metaSchema, '2020-12').validate(schema).errors).toEqual([]);
  });

  it('accepts what is required alone, and refuses unknown ones', () => {
    const validator = new Validator(schema as Schema, '2020-12');
    const required = { ...((schema as Schema).required?.includes('model') && { model: 'models/qwen' }) };
    expect(validator.validate(required).valid).toBe(true);
    expect(validator.validate({ ...required, surprise: 1 }).valid).toBe(false);
  });
});

describe('schemas of options', () => {
  it('have the defaults and bounds of the source', () => {
    const { properties } = named('algorithms/dist/schemas/grpo');
    expect(properties!.tasksPerIteration).toMatchObject({
      type: 'integer',
      minimum: 1,
      default: 8,
    });
    expect(properties!.rollout!.properties!.groupSize).toMatchObject({ default: 8 });
    expect(properties).not.toHaveProperty('iterations');
    expect(properties).not.toHaveProperty('advantages');
    expect(named('rollout/dist/schemas/rollout').properties!.groupSize).toMatchObject({ default: 8 });
  });

  it('describe each branch of a union by the part of the type with its constants', () => {
    // A comment on the line of a bracket would belong to the bracket.
    const part = (comment: string, kind: string) => `{\n/** ${comment} */\nkind: ${kind} }`;
    const parts = [
      part('Logistic.', "'sigmoid' | 'norm'"),
      part('Squared.', "'hinge' | 'ipo'"),
      part('Robust.', "'robust'"),
    ];
    const text = `export type Loss = ${parts.join(' | ')};`;
    const source = ts.createSourceFile('loss.ts', text, ts.ScriptTarget.ESNext, true);
    const host = { ...ts.createCompilerHost({}), getSourceFile: () => source };
    const program = ts.createProgram({ rootNames: ['loss.ts'], options: { noLib: true }, host });
    const checker = program.getTypeChecker();
    const [loss] = checker.getExportsOfModule(checker.getSymbolAtLocation(source)!);
    const kinds = [{ enum: ['sigmoid', 'norm'] }, { enum: ['hinge', 'ipo'] }, { const: 'robust' }];
    const schema = { oneOf: kinds.map((kind) => ({ properties: { kind } })) };
    describeFields(schema, checker.getDeclaredTypeOfSymbol(loss!), checker);
    expect(schema.oneOf.map(({ properties }) => properties.kind)).toMatchObject([
      { description: 'Logistic.' },
      { description: 'Squared.' },
      { description: 'Robust.' },
    ]);
  });

  it('check the configuration of a run', () => {
    const validator = new Validator(named('run/dist/schemas/run') as Schema, '2020-12');
    const config = { model: 'models/qwen', data: 'rows.jsonl', output: 'runs/one' };
    expect(validator.validate({ ...config, algorithm: { name: 'ppo', iterations: 5 } }).valid).toBe(true);
    expect(validator.validate({ ...config, distill: { teacher: 'Qwen/Qwen3-8B' } }).valid).toBe(true);
    expect(validator.validate({ ...config, sft: { epochs: -1 } }).valid).toBe(false);
    expect(validator.validate({ ...config, mode: 'training' }).valid).toBe(false);
  });

  it('check a configuration file', () => {
    const validator = new Validator(named('algorithms/dist/schemas/ppo') as Schema, '2020-12');
    const config = {
      preset: 'verl',
      gae: { lambda: 0.9 },
      loss: { clipHigh: 0.3 },
      rollout: { groupSize: 2 },
    };
    expect(validator.validate(config).valid).toBe(true);
    expect(validator.validate({ ...config, gae: { lambda: 2 } }).valid).toBe(false);
    expect(validator.validate({ ...config, preset: 'tinker' }).valid).toBe(false);
  });
});
