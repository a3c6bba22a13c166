import { RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { syntheticCorpus } from './corpora.ts';
import type { Hack } from './hack-kinds.ts';
import { outsideHack, outsideHacks } from './outside-hacks.ts';

const items = syntheticCorpus().report.slice(0, 5);
const forms = Object.entries(outsideHacks).flatMap(([kind, hacks]) =>
  Object.entries(hacks).map(([name, hack]): [string, Hack] => [`${kind}: ${name}`, hack]),
);

describe('outsideHacks', () => {
  it.each(forms)('%s: changes every response, the same way for the same stream', (name, hack) => {
    for (const item of items) {
      const responses = [1, 2].map(() => hack(item, RandomStream.named(name, item.prompt)));
      expect(responses[0]).toBe(responses[1]);
      expect(responses[0]).not.toBe(item.response);
      expect(responses[0]!.trim()).not.toMatch(/^$|undefined/);
    }
  });

  it('gives a run one of the forms of its kind', () => {
    const drawn = new Set(items.map((_, at) => outsideHack('hedging', RandomStream.named('run', at))));
    for (const hack of drawn) expect(Object.values(outsideHacks.hedging)).toContain(hack);
  });
});
