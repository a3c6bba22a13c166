import { describe, expect, it } from 'vitest';
import { Arena } from './arena.ts';

describe('Arena', () => {
  it('hands a released buffer out again, and only then', () => {
    const arena = new Arena();
    const [first, second] = [arena.take(4), arena.take(4)];
    expect(second).not.toBe(first);
    arena.release(first);
    expect(arena.take(4)).toBe(first);
    expect(arena.take(3)).toHaveLength(3);
  });

  it('takes everything back at once', () => {
    const arena = new Arena();
    const given = [arena.take(2), arena.take(2)];
    arena.reset();
    expect(new Set([arena.take(2), arena.take(2)])).toEqual(new Set(given));
  });

  it('clears what is to be zeros', () => {
    const arena = new Arena();
    arena.take(3).fill(7);
    arena.reset();
    expect([...arena.zeros(3)]).toEqual([0, 0, 0]);
  });

  it('leaves alone what is not its own, and what came back before', () => {
    const arena = new Arena();
    const own = arena.take(2);
    arena.release(own);
    arena.release(own);
    arena.release(new Float64Array(2));
    expect(arena.take(2)).toBe(own);
    expect(arena.take(2)).not.toBe(own);
  });
});
