import { expect, it } from 'vitest';
import { trainAgent } from './tool-agent.ts';

it('learns to call the tool once and to answer by what it says', async () => {
  const seen: { readonly reward: number; readonly responses: number }[] = [];
  for await (const iteration of trainAgent(60)) seen.push(iteration);
  expect(seen[0]!.reward).toBeLessThan(0);
  // Without calling, half of the answers are right.
  for (const { reward, responses } of seen.slice(-5)) {
    expect(reward).toBeGreaterThan(0.9);
    expect(responses).toBeCloseTo(2, 1);
  }
});
