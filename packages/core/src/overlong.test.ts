import { describe, expect, it } from 'vitest';
import { OptionsError } from './errors.ts';
import { overlongPenalty } from './overlong.ts';

describe('overlongPenalty', () => {
  const options = { maximum: 100, buffer: 20 };

  it('falls linearly over the buffer and stays at the penalty', () => {
    expect([80, 90, 100, 120].map((length) => overlongPenalty(length, options))).toEqual([0, -0.5, -1, -1]);
    expect(overlongPenalty(120, { ...options, penalty: 0.5 })).toBe(-0.5);
  });

  it('grows beyond the maximum without a floor', () => {
    expect(overlongPenalty(120, { ...options, floor: 'none' })).toBe(-2);
  });

  it('is a step without a buffer', () => {
    expect(overlongPenalty(100, { maximum: 100, buffer: 0 })).toBe(0);
    expect(overlongPenalty(101, { maximum: 100, buffer: 0, floor: 'none' })).toBe(-1);
  });

  it('rejects options outside their ranges', () => {
    expect(() => overlongPenalty(1, { maximum: 0, buffer: 0 })).toThrow(OptionsError);
  });
});
