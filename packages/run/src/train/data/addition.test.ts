import { expect, it } from 'vitest';
import { additionRows, workedSolution } from './addition.ts';
import { splitRows } from './split-rows.ts';

it.each([
  [[47, 85], 'carries', '<reasoning>7+5=12,4+8+1=13</reasoning><answer>132</answer>'],
  [[47, 85], 'forgets the carry', '<reasoning>7+5=12,4+8=12</reasoning><answer>122</answer>'],
  [[61, 71], 'forgets the carry', '<reasoning>1+1=2,6+7=13</reasoning><answer>132</answer>'],
  [[61, 71], 'carries', '<reasoning>1+1=2,6+7=13</reasoning><answer>132</answer>'],
  [[199, 801], 'carries', '<reasoning>9+1=10,9+0+1=10,1+8+1=10</reasoning><answer>1000</answer>'],
  [[5, 4], 'carries', '<reasoning>5+4=9</reasoning><answer>9</answer>'],
] as const)('the solution of %j by a teacher who %s', (addends, carrying, solution) => {
  expect(workedSolution(addends, carrying)).toBe(solution);
});

it('makes sums whose careful solutions are right', () => {
  for (const { metadata, completion } of additionRows({ count: 500, digits: 3 }, 's')) {
    expect(completion).toContain(`<answer>${metadata.answer}</answer>`);
  }
  expect(() => additionRows({ cuont: 5 }, 's')).toThrow(/data\.options: .*\n.*count/);
});

it('makes as many mistakes as the teacher is careless', () => {
  const right = (carelessness: number) => {
    const rows = additionRows({ count: 3000, carry: 'needed', carelessness }, '0');
    const isRight = ({ metadata, completion }: (typeof rows)[number]) =>
      completion?.endsWith(`>${metadata.answer}</answer>`);
    return rows.filter(isRight).length / rows.length;
  };
  expect(right(0)).toBe(1);
  // Sums that carry into the hundreds only come out right even without care.
  expect(right(1)).toBeLessThan(0.5);
  expect(right(0.5)).toBeCloseTo((1 + right(1)) / 2, 1);
});

it('deals each row to one purpose', () => {
  const rows = additionRows({ count: 100 }, 's');
  const { imitated, practised, heldOut } = splitRows(rows, { heldOut: 20, imitated: 30, seed: 's' });
  expect([imitated.length, practised.length, heldOut.length]).toEqual([30, 50, 20]);
  expect(new Set([...imitated, ...practised, ...heldOut]).size).toBe(100);
  expect(() => splitRows(rows, { heldOut: 100, imitated: undefined, seed: 's' })).toThrow(
    /evaluation\.heldOut is 100/,
  );
  expect(() => splitRows(rows, { heldOut: 20, imitated: 80, seed: 's' })).toThrow(/sft\.rows is 80/);
  expect(splitRows(rows, { heldOut: undefined, imitated: undefined, seed: 's' }).heldOut).toHaveLength(10);
});
