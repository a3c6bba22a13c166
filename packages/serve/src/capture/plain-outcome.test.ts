import { describe, expect, it } from 'vitest';
import { plainOutcome } from './plain-outcome.ts';

class Answered {
  readonly steps = [{ text: 'a' }, { text: 'b' }];
  get text() {
    return this.steps.at(-1)!.text;
  }
  get output(): string {
    throw new Error('no output');
  }
  toText() {
    return this.text;
  }
}

const unreadable = {
  toJSON() {
    throw new Error('closed');
  },
};

class Money {
  toJSON() {
    return { cents: 5 };
  }
}

describe('what an agent returns', () => {
  const step = { text: 'a' };
  it.each([
    ['text', 'text'],
    [undefined, undefined],
    [{ a: [1, null, true], gone: undefined }, { a: [1, null, true] }],
    [Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    [
      [step, step],
      [step, step],
    ],
    [new Money(), { cents: 5 }],
    [
      Object.assign(new RangeError('too far', { cause: new Error('lost') }), { code: 5 }),
      { name: 'RangeError', message: 'too far', cause: { name: 'Error', message: 'lost' }, code: 5 },
    ],
  ])('is kept without a note: %j', (result, value) => {
    expect(plainOutcome(result, 'rlp-0')).toEqual({ value });
  });

  it('keeps what the getters of a class return', () => {
    const { value, note } = plainOutcome(new Answered(), 'rlp-0');
    expect(value).toEqual({ steps: [{ text: 'a' }, { text: 'b' }], text: 'b' });
    expect(note).toContain('as it is: outcome.output throws "no output"; return text');
  });

  const itself: Record<string, unknown> = { a: 1 };
  itself.again = itself;
  it.each([
    [new Map([['score', 1]]), undefined, 'outcome is a Map of 1;'],
    [{ a: 1, seen: new Set([1]) }, { a: 1 }, 'outcome.seen is a Set of 1;'],
    [
      { a: [1, Number.NaN, -Infinity] },
      { a: [1, null, null] },
      'outcome.a[] is NaN, outcome.a[] is -Infinity;',
    ],
    [[undefined], [null], 'outcome[] is undefined;'],
    [{ at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }, 'outcome.at is a Date and becomes text;'],
    [() => 1, undefined, 'outcome is a function;'],
    [[unreadable], undefined, 'outcome cannot be read (closed);'],
    [{ n: 5n, ok: true }, { ok: true }, 'outcome.n is a bigint;'],
    [itself, { a: 1 }, 'outcome.again refers to itself;'],
    [new Uint8Array(2), undefined, 'outcome is an Uint8Array of 2;'],
    [Buffer.from('a'), undefined, 'outcome is a Buffer of 1;'],
    [new Response('a'), undefined, 'outcome is a Response'],
    [{ a: 1n, b: 1n, c: 1n, d: 1n, e: 1n }, {}, 'outcome.c is a bigint and 2 more;'],
  ])('is kept as far as it can be, with a note: %o', (result, value, note) => {
    const outcome = plainOutcome(result, 'rlp-0');
    expect(outcome.value).toEqual(value);
    expect(outcome.note).toContain(note);
  });

  it('leaves out promises, and rejections of them stay here', async () => {
    const { value, note } = plainOutcome({ text: Promise.reject(new Error('over')) }, 'rlp-0');
    expect([value, note]).toEqual([{}, expect.stringContaining('outcome.text is a promise')]);
    await new Promise((resolve) => setImmediate(resolve));
  });
});
