import { ArgumentError } from '../errors.ts';
import type { TaskSource } from '../task.ts';
import { describe, expect, it } from './vitest.ts';

/** What the suite needs from an implementation. */
export interface TaskSourceSubject {
  /** A new source at its beginning. Every call gives the same sequence. */
  readonly create: () => TaskSource;
}

/**
 * Contract of {@link TaskSource}. Run it on every implementation.
 *
 * @param name - Names the implementation in the report.
 */
export function describeTaskSource(name: string, { create }: TaskSourceSubject): void {
  const sequence = create().take(50);

  describe(`${name} is a TaskSource`, () => {
    it('gives as many tasks as asked for and counts them', () => {
      const source = create();
      expect(source.cursor).toBe(0);
      expect(source.take(3)).toHaveLength(3);
      expect(source.take(0)).toEqual([]);
      expect(source.cursor).toBe(3);
    });

    it('never ends', () => {
      expect(create().take(1000)).toHaveLength(1000);
    });

    it('gives the same sequence however it is cut', () => {
      const source = create();
      const cut = [1, 4, 0, 30, 15].flatMap((count) => source.take(count));
      expect(cut).toEqual(sequence);
    });

    it('continues at any cursor as if it had come there', () => {
      for (const cursor of [37, 0, 12, 49]) {
        const source = create();
        source.take(5);
        source.seek(cursor);
        expect(source.cursor).toBe(cursor);
        expect(source.take(50 - cursor)).toEqual(sequence.slice(cursor));
      }
    });

    it.each([-1, 0.5, Number.NaN])('rejects %d as a count and as a cursor', (bad) => {
      expect(() => create().take(bad)).toThrow(ArgumentError);
      expect(() => create().seek(bad)).toThrow(ArgumentError);
    });
  });
}
