import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { OptionsError, RlpError } from '../errors.ts';
import { having } from './having.ts';
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

  it.each([
    [z.int().min(1), 0, 'expected a number of at least 1, got 0'],
    [z.number().gt(0), -1, 'expected a number of more than 0, got -1'],
    [z.number().max(5), 9, 'expected a number of at most 5, got 9'],
    [z.int(), 1.5, 'expected a whole number, got 1.5'],
    [z.number(), '8', 'expected a number, got "8"'],
    [z.number(), Number.NaN, 'expected a number, got NaN'],
    [z.string(), undefined, 'expected text, got nothing'],
    [z.string(), 1, 'expected text, got 1; write "1" in quotes'],
    [z.boolean(), null, 'expected true or false, got null'],
    [z.strictObject({}), [], 'expected an object, got an empty list'],
    [z.array(z.number()).min(1), [], 'expected at least 1 item, got 0'],
    [z.string().min(16), 'secret', 'expected at least 16 characters, got 6'],
    [z.string().regex(/^a/), 'secret', 'expected text that matches /^a/'],
    [z.enum(['a', 'b']), 3, 'expected one of "a", "b", got 3'],
    [z.literal('a'), () => 1, 'expected "a", got a function'],
    [z.url(), 'secret', 'expected a valid URL'],
    [z.union([z.number(), z.string()]), true, 'expected a number, or text, got true'],
    [z.custom(() => false), 3, 'expected another value, got 3'],
    [z.custom(() => false, 'must be odd'), 2, 'must be odd'],
  ])('says what was expected and what came: %#', (field, value, expected) => {
    const refused = () => parseOptions('own', z.strictObject({ field }), { field: value });
    expect(refused).toThrow(`own: invalid options\n  - field: ${expected}`);
  });

  it('names the field that is wrong of the branch that was meant', () => {
    const schedule = z.union(
      [z.literal('none'), z.strictObject({ decay: z.number() })],
      'must be a schedule',
    );
    const refused = (field: unknown) => () =>
      parseOptions('own', z.strictObject({ field: schedule }), { field });
    expect(refused({ decay: '1' })).toThrow('field.decay: expected a number, got "1"');
    expect(refused('fast')).toThrow('field: must be a schedule');
  });

  it('leaves no rejection behind where a check throws', async () => {
    const throwing = z.unknown().refine(() => {
      throw new Error('of the check');
    });
    expect(() => parseOptions('own', throwing, {})).toThrow(TypeError);
    // A rejection that nobody hears of fails the run.
    await new Promise(setImmediate);
  });

  it('asks to await a promise', () => {
    const wanted = z.strictObject({
      model: having<{ sample(): void }>('sample', 'a sampler'),
      count: z.number(),
    });
    const given = { model: Promise.resolve(), count: Promise.resolve(3) };
    expect(() => parseOptions('train', wanted, given)).toThrow(
      '  - model: must be a sampler; await the promise\n  - count: expected a number, got a Promise; await the promise',
    );
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
