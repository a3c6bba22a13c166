import { expect, it } from 'vitest';
import { requireLowRank } from './low-rank.ts';

const target = (weight: string, inputs: number, outputs: number) => ({
  layer: { weight, inputs, outputs, order: 'out-in' as const, bias: undefined },
  down: { name: 'down', shape: [] },
  up: { name: 'up', shape: [] },
});
const [wide, narrow] = [target('wide.weight', 896, 4864), target('narrow.weight', 896, 128)];

it.each([
  [128, [wide, narrow], []],
  [896, [wide], []],
  [
    129,
    [wide, narrow],
    [
      'lora.rank is 129, but 1 of the 2 layers that it corrects are narrower, such as narrow.weight [128, 896], where a rank of 128 does as much with fewer numbers; leave them out of lora.targets, or lower the rank',
    ],
  ],
])('a rank of %i is said to be above some layers', (rank, targets, expected) => {
  const said: string[] = [];
  requireLowRank(rank, targets, (sentence) => said.push(sentence));
  expect(said).toEqual(expected);
});

it('a rank above all layers is refused', () => {
  expect(() => requireLowRank(129, [narrow])).toThrow('has rank 128; pass at most 128');
  expect(() => requireLowRank(1, [])).not.toThrow();
});
