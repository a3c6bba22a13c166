import { expect, it } from 'vitest';
import { having } from './having.ts';

const sampler = having<{ sample(): void }>('sample', 'a sampler');

it('takes whatever has the method, as it is', () => {
  class Own {
    sample() {}
  }
  const given = new Own();
  expect(sampler.parse(given)).toBe(given);
});

it.each([undefined, null, 7, {}, { sample: true }])('refuses %j', (given) => {
  expect(sampler.safeParse(given).error?.issues.map(({ message }) => message)).toEqual(['must be a sampler']);
});
