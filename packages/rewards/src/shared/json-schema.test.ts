import { OptionsError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { jsonSchemaCheck } from './json-schema.ts';

const fits = (schema: unknown, value: unknown) =>
  jsonSchemaCheck('test', schema, 'first')(value).length === 0;

describe('jsonSchemaCheck', () => {
  const tree = {
    $ref: '#/$defs/node',
    $defs: {
      node: {
        type: 'object',
        properties: {
          value: { type: 'integer' },
          children: { type: 'array', items: { $ref: '#/$defs/node' } },
        },
        required: ['value'],
        unevaluatedProperties: false,
      },
    },
  };
  const shape = {
    oneOf: [
      {
        properties: { kind: { const: 'circle' }, radius: { exclusiveMinimum: 0 } },
        required: ['kind', 'radius'],
      },
      { properties: { kind: { const: 'point' } }, required: ['kind'], maxProperties: 1 },
    ],
  };
  const prices = {
    patternProperties: { '^price_': { type: 'number', multipleOf: 0.01 } },
    additionalProperties: false,
  };
  const branch = { if: { required: ['a'] }, else: { required: ['b'] } };

  // As the standard says; each from a section of draft 2020-12.
  it.each([
    [
      'a reference',
      tree,
      { value: 1, children: [{ value: 2 }] },
      { value: 1, children: [{ value: 2, x: 1 }] },
    ],
    ['one of two', shape, { kind: 'point' }, { kind: 'circle', radius: 0 }],
    ['patterns of properties', prices, { price_a: 1.25 }, { price_a: 1.255 }],
    ['a format', { format: 'date' }, '2024-02-29', '2023-02-29'],
    ['a format that binds text alone', { format: 'ipv6' }, 12, '1::2::3'],
    [
      'unique items',
      { uniqueItems: true },
      [{ a: 1, b: 2 }, { a: 1 }],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
    ['a condition', branch, { b: 1 }, { c: 1 }],
    ['a keyword of numbers without a type', { minimum: 3 }, 'text', 2],
    ['characters, not code units', { maxLength: 1 }, '😀', 'ab'],
    ['required names of Object.prototype', { required: ['toString'] }, { toString: 1 }, {}],
    ['no schema at all', true, 1, undefined],
  ])('knows %s', (_, schema, good, bad) => {
    expect(fits(schema, good)).toBe(true);
    if (bad !== undefined) expect(fits(schema, bad)).toBe(false);
  });

  it('tells where and why, or stops at the first reason', () => {
    const schema = { properties: { a: { type: 'string' }, b: { minItems: 2 } } };
    const value = { a: 1, b: [1] };
    const reasons = jsonSchemaCheck('test', schema, 'all')(value);
    expect(reasons).toContain('#/a: Instance type "number" is invalid. Expected "string".');
    expect(reasons).toContain('#/b: Array has too few items (1 < 2).');
    expect(jsonSchemaCheck('test', schema, 'first')(value).length).toBeLessThan(reasons.length);
  });

  it('reads a schema as the draft that it names', () => {
    const pair = { items: [{ type: 'string' }], additionalItems: false };
    expect(fits({ ...pair, $schema: 'http://json-schema.org/draft-07/schema#' }, ['a', 1])).toBe(false);
    expect(
      fits({ minimum: 3, exclusiveMinimum: true, $schema: 'http://json-schema.org/draft-04/schema#' }, 3),
    ).toBe(false);
  });

  it.each([
    [{ type: 'nothing' }, '#/type'],
    [{ properties: { a: { type: 'int' } } }, '#/properties/a'],
    [{ pattern: '(' }, '#/pattern'],
    [{ anyOf: [] }, '#/anyOf'],
    [{ $ref: '#/$defs/gone' }, 'nothing is at #/$defs/gone'],
    [{ $ref: 'https://elsewhere.example/schema' }, 'nothing is at https://elsewhere.example/schema'],
    ['string', '#'],
    [undefined, 'expected a JSON Schema, got undefined'],
  ])('refuses %j', (schema, place) => {
    const read = () => jsonSchemaCheck('test', schema, 'first');
    expect(read).toThrow(OptionsError);
    expect(read).toThrow(place);
  });

  it('leaves the schema as it was, frozen ones too', () => {
    const schema = Object.freeze({ type: 'string', enum: Object.freeze(['a']) });
    expect(fits(schema, 'a')).toBe(true);
    expect(Reflect.ownKeys(schema)).toEqual(['type', 'enum']);
  });
});
