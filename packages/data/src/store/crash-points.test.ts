import { describe, expect, it } from 'vitest';
import { crashTable, storeScenarios } from '../testing/index.ts';

/** By day one save each, and without the scenario that is another one with more saves kept. */
const scenarios = process.env.RLP_SLOW_TESTS
  ? storeScenarios
  : storeScenarios
      .filter(({ name }) => name !== 'resumed, keep 2')
      .map((scenario) => ({ ...scenario, saves: 1 }));

describe('crash points', () => {
  it.each(scenarios)('$name: nothing is lost, mixed or left behind', async (scenario) => {
    const { operations, points, problems } = await crashTable(scenario, 'distinct');
    const tried = Object.values(points).reduce((sum, count) => sum + count);
    console.log(`${scenario.name}: ${operations} operations, ${tried} points`);
    expect(problems).toEqual([]);
    expect(tried).toBeGreaterThan(200);
  });
});
