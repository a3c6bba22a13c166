import { describe, expect, it } from 'vitest';
import { crashTable, storeScenarios } from '../testing/index.ts';

describe('crash points', () => {
  it.each(storeScenarios)('$name: nothing is lost, mixed or left behind', async (scenario) => {
    const { operations, points, problems } = await crashTable(scenario, 'distinct');
    const tried = Object.values(points).reduce((sum, count) => sum + count);
    console.log(`${scenario.name}: ${operations} operations, ${tried} points`);
    expect(problems).toEqual([]);
    expect(tried).toBeGreaterThan(200);
  });
});
