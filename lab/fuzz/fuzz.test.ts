import { expect, it } from 'vitest';
import { fuzz } from './fuzz.ts';
import { targets } from './targets.ts';

it.each(targets)('$name takes damaged input, or refuses it in words', { timeout: 30_000 }, async (target) => {
  await target.run(target.input as never);
  expect(await fuzz(target, 80, 'test')).toEqual([]);
});

it('finds what is thrown in other words', async () => {
  const careless = {
    name: 'careless',
    input: { a: { b: 1 } },
    run: ({ a }: { a: { b: number } }) => a.b.toFixed(),
  };
  expect((await fuzz(careless, 200, 'test'))[0]!.problem).toContain('TypeError');
});
