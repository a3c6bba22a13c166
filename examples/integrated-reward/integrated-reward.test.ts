import { describe, expect, it } from 'vitest';
import { createSystem, episodes, lenient, strict } from './system.ts';

describe('the integrated reward example', () => {
  it('keeps the good answer under the strict bar, and others only under the lenient one', async () => {
    const accepted = async (config: typeof strict) => {
      await using system = createSystem(config);
      const result = await system.processEpisodes(episodes);
      expect(result.rewards.at(0)).toBeGreaterThan(0.8);
      expect(result.accepted.length + result.rejected.length).toBe(episodes.length);
      return result.accepted.map(({ id }) => id);
    };
    expect(await accepted(strict)).toEqual(['good']);
    expect(await accepted(lenient)).toEqual(['good', 'hedging', 'repeating']);
  });
});
