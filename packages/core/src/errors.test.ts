import { describe, expect, it } from 'vitest';
import * as errors from './errors.ts';

const classes = Object.entries(errors).filter(([name]) => name !== 'OptionsError') as [
  string,
  new (message: string, options?: ErrorOptions) => errors.RlpError,
][];

describe.each(classes)('%s', (name, ErrorClass) => {
  it('carries its name, its message and its cause, and is an RlpError', () => {
    const cause = new Error('socket closed');
    const error = new ErrorClass('expected a, got b', { cause });
    expect(error).toBeInstanceOf(errors.RlpError);
    expect(error).toMatchObject({ name, message: 'expected a, got b', cause });
    expect(String(error)).toBe(`${name}: expected a, got b`);
  });
});

describe('OptionsError', () => {
  it('keeps the problems apart and prints one on each line', () => {
    const error = new errors.OptionsError('sampler', ['topK: is negative', 'unknown key: topk']);
    expect(error.issues).toEqual(['topK: is negative', 'unknown key: topk']);
    expect(error.message).toBe('sampler: invalid options\n  - topK: is negative\n  - unknown key: topk');
  });
});
