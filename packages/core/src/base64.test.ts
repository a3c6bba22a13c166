import fc from 'fast-check';
import { expect, it } from 'vitest';
import { base64Of, bytesOf } from './base64.ts';

it('gives back any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      expect(base64Of(bytes)).toBe(Buffer.from(bytes).toString('base64'));
      expect(bytesOf(base64Of(bytes))).toEqual(bytes);
    }),
  );
  expect(bytesOf(base64Of(new Uint8Array(100_000).fill(7)))).toHaveLength(100_000);
});
