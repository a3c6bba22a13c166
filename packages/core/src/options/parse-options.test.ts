import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { OptionsError, RlpError } from '../errors.ts';
import { parseOptions, type Schema } from './parse-options.ts';

const schema = z.strictObject({
  groupSize: z.int().min(2, 'must be at least 2').default(8),
  clip: z.strictObject({ low: z.number(), high: z.number() }).optional(),
});

function problemsOf(input: unknown): readonly string[] {
  try {
    parseOptions('grpo', schema, input);
  } catch (error) {
    if (error instanceof OptionsError) return error.issues;
    throw error;
  }
  return [];
}

describe('parseOptions', () => {
  it('fills in defaults', () => {
    expect(parseOptions('grpo', schema, {})).toEqual({ groupSize: 8 });
  });

  it('names every problem at once, with its path', () => {
    const issues = problemsOf({ groupSize: 1, clip: { low: 0 }, klCoef: 0.1 });
    expect(issues).toHaveLength(3);
    expect(issues[0]).toBe('groupSize: must be at least 2');
    expect(issues[1]).toMatch(/^clip\.high: /);
    expect(issues[2]).toMatch(/klCoef/);
  });

  it('leaves no rejection behind where a check throws', async () => {
    const throwing = z.unknown().refine(() => {
      throw new Error('of the check');
    });
    expect(() => parseOptions('own', throwing, {})).toThrow(TypeError);
    // A rejection that nobody hears of fails the run.
    await new Promise(setImmediate);
  });

  it('says whose options they are', () => {
    expect(() => parseOptions('grpo', schema, { groupSize: 0 })).toThrow(
      new OptionsError('grpo', ['groupSize: must be at least 2']),
    );
  });

  it('names the path where another library wraps its parts into objects', () => {
    const foreign: Schema<never> = {
      '~standard': {
        validate: () => ({
          issues: [{ message: 'is odd', path: [{ key: 'a' }, 0] }, { message: 'is empty' }],
        }),
      },
    };
    expect(() => parseOptions('foreign', foreign, {})).toThrow(
      'foreign: invalid options\n  - a.0: is odd\n  - is empty',
    );
  });

  it('refuses a schema that needs to wait', () => {
    const slow: Schema<number> = { '~standard': { validate: async () => ({ value: 1 }) } };
    expect(() => parseOptions('slow', slow, {})).toThrow('slow: option schemas must be synchronous');
  });

  it('throws errors that are of this project', () => {
    expect(() => parseOptions('grpo', schema, null)).toThrow(RlpError);
  });
});
