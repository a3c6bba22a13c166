import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type ToolContext, tool } from './tool.ts';

const definition = { name: 'refund', description: 'Pays back.', execute: () => 1 };
const context = { callId: 'call00000' } as ToolContext;

describe('tool', () => {
  it('takes arguments as the JSON Schema of a request, shows it as it is and checks calls by it', async () => {
    const parameters = {
      type: 'object',
      properties: { order: { type: 'string', description: 'Its number.' }, count: { type: 'integer' } },
      required: ['order'],
    };
    const refund = tool({ ...definition, parameters, execute: ({ order }) => `paid ${order}` });
    expect(refund.schema.function.parameters).toEqual(parameters);
    expect(await refund.run({ order: 'A1', count: 2 }, context)).toBe('paid A1');
    await expect(refund.run({ order: 1, count: 0.5 }, context)).rejects.toThrow(
      /^wrong arguments: order: .*string.*; count: .*int/,
    );
  });

  it('refuses parameters that are not a schema, and schemas that cannot be checked', () => {
    expect(() => tool({ ...definition, parameters: { city: z.string() } })).toThrow(
      "must be a z.object, or a JSON Schema with type: 'object' and properties, got an object with city",
    );
    const elsewhere = { type: 'object', properties: { city: { $ref: 'https://rlp.test/city' } } };
    expect(() => tool({ ...definition, parameters: elsewhere })).toThrow(
      /tool "refund".* zod cannot check this JSON Schema \(External \$ref .*\); write it as a z.object/s,
    );
  });
});
