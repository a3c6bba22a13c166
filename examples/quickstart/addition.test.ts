import { describe, expect, it } from 'vitest';
import { additionTasks, demonstrations, workedSolution } from './addition.ts';

describe('workedSolution', () => {
  it.each([
    [[47, 85], 'carries', '<reasoning>7+5=12,4+8+1=13</reasoning><answer>132</answer>'],
    [[47, 85], 'forgets the carry', '<reasoning>7+5=12,4+8=12</reasoning><answer>122</answer>'],
    [[61, 71], 'carries', '<reasoning>1+1=2,6+7=13</reasoning><answer>132</answer>'],
    [[61, 71], 'forgets the carry', '<reasoning>1+1=2,6+7=13</reasoning><answer>132</answer>'],
  ] as const)('of %j by one who %s', (addends, carrying, solution) => {
    expect(workedSolution(addends, carrying)).toBe(solution);
  });
});

describe('additionTasks', () => {
  const tasks = additionTasks('0');

  it('shows, practises and judges different problems', () => {
    const all = [tasks.heldOut, tasks.demonstrated, tasks.practised].flat().map(({ prompt }) => prompt);
    expect(new Set(all).size).toBe(all.length);
    expect(tasks.heldOut).toHaveLength(400);
    expect(tasks.practised.length).toBeGreaterThan(1000);
  });

  it('is demonstrated with as many mistakes as the teacher is careless', () => {
    const right = (carelessness: number) =>
      demonstrations(tasks.demonstrated, { seed: '0', carelessness }).filter((demonstration, index) => {
        const { answer } = tasks.demonstrated[index]!.metadata;
        return 'completion' in demonstration && demonstration.completion.endsWith(`>${answer}</answer>`);
      }).length / tasks.demonstrated.length;
    expect(right(0)).toBe(1);
    // Sums that carry into the hundreds only come out right even without care.
    expect(right(1)).toBeLessThan(0.5);
    expect(right(0.5)).toBeCloseTo((1 + right(1)) / 2, 1);
  });
});
