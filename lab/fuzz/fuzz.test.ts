import { expect, it } from 'vitest';
import { fuzz } from './fuzz.ts';
import { targets } from './targets.ts';

it.each(targets)('$name takes damaged input, or refuses it in words', { timeout: 30_000 }, (target) => {
  expect(() => target.run(target.input as never)).not.toThrow();
  expect(fuzz(target, 80, 'test')).toEqual([]);
});

it('finds what is thrown in other words', () => {
  const careless = {
    name: 'careless',
    input: { a: { b: 1 } },
    run: ({ a }: { a: { b: number } }) => a.b.toFixed(),
  };
  expect(fuzz(careless, 200, 'test')[0]!.problem).toContain('TypeError');
});
