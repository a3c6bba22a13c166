import { expect, it } from 'vitest';
import { toolListSchema, toolSchema } from './tool-schema.ts';

const parameters = { type: 'object', properties: { a: { type: 'number' } } };
const add = { type: 'function', function: { name: 'add', description: 'Adds.', parameters } };

it.each([
  ['the Chat Completions API', add],
  ['the Responses API', { type: 'function', name: 'add', description: 'Adds.', parameters }],
  ["Anthropic's API", { name: 'add', description: 'Adds.', input_schema: parameters }],
  ['a function without its type', { function: { name: 'add', description: 'Adds.', parameters } }],
])('takes tools as %s has them', (_, given) => {
  expect(toolSchema.parse(given)).toEqual(add);
});

it('leaves out what a tool does not say, and nulls', () => {
  const bare = { type: 'function', function: { name: 'now' } };
  for (const given of [{ name: 'now' }, { name: 'now', description: null, parameters: null }]) {
    expect(toolSchema.parse(given)).toEqual(bare);
  }
});

it.each([
  null,
  undefined,
  'add',
  7,
  {},
  { name: '' },
  { function: 'add' },
  { function: null },
  { name: 'add', parameters: [] },
])('refuses %j', (given) => {
  expect(toolSchema.safeParse(given).success).toBe(false);
});

it('says of a function that is no object that it is none', () => {
  for (const given of ['add', null]) {
    const { error } = toolSchema.safeParse({ type: 'function', function: given });
    expect(error?.issues).toMatchObject([{ code: 'invalid_type', expected: 'object', path: ['function'] }]);
  }
});

it('takes a list, or its JSON', () => {
  expect(toolListSchema.parse([add])).toEqual([add]);
  expect(toolListSchema.parse(JSON.stringify([add]))).toEqual([add]);
  expect(toolListSchema.safeParse('[').error?.issues[0]).toMatchObject({
    code: 'invalid_type',
    expected: 'array',
  });
});
