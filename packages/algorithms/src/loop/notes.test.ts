import { describe, expect, it } from 'vitest';
import { NoteTally } from './notes.ts';

/** Notes that differ in more than numbers. */
const kinds = (count: number) => Array.from({ length: count }, (_, at) => 'x'.repeat(at + 1));

describe('a tally of notes', () => {
  it('counts notes that differ in numbers only together', () => {
    const tally = new NoteTally();
    expect(['1.5 of 3 ms', 'late', '2e-7 of 12 ms'].map((note) => tally.add(note))).toEqual([1, 1, 2]);
    expect(tally.list()).toEqual(['1.5 of 3 ms (2 times)', 'late']);
  });

  it('remembers 100 kinds, and counts the notes of all others together', () => {
    const tally = new NoteTally();
    const notes = kinds(102);
    for (const note of notes.slice(0, 100)) tally.add(note);
    expect(tally.list()).toEqual(notes.slice(0, 100));
    expect(notes.slice(100).map((note) => tally.add(note))).toEqual([1, 1]);
    expect(tally.add(notes[101]!)).toBe(1);
    expect(tally.add(notes[99]!)).toBe(2);
    expect(tally.list()).toEqual([...notes.slice(0, 99), `${notes[99]} (2 times)`, '3 further notes']);
  });
});
