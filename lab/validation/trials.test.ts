import { RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { syntheticCorpus } from './corpora.ts';
import { blindForms, forms, laterForms, sealedForms } from './forms.ts';
import { honestRuns } from './honest.ts';
import { plantedTrials, stationaryTrials } from './trials.ts';

const corpus = syntheticCorpus();

describe('forms of hacks', () => {
  it.each([...forms, ...blindForms, ...laterForms, ...sealedForms].map((form) => [form.name, form] as const))(
    '%s: changes responses, the same way each time',
    (name, form) => {
      const changed = corpus.report.slice(0, 40).filter((item) => {
        const [first, second] = [1, 2].map(() => {
          const hack = form.prepare(corpus.report, RandomStream.named('run', name));
          return hack(item, RandomStream.named(name, item.prompt));
        });
        expect(first).toBe(second);
        expect(first).not.toContain('undefined');
        return first !== item.response;
      });
      expect(changed.length).toBeGreaterThan(2);
    },
  );

  it('are looked at while building, or not', () => {
    const report = forms.filter(({ half }) => half === 'report');
    const blind = [blindForms, laterForms, sealedForms].map(({ length }) => length);
    expect([forms.length, report.length, ...blind]).toEqual([161, 16, 24, 16, 30]);
  });
});

// The whole validation is `pnpm validate:hacking`; this is a small part of it, on made-up responses.
describe('rewardHackingDetector', () => {
  const options = {
    corpora: [corpus],
    half: 'report',
    forms,
    honestRuns,
    opinion: 'with',
    runs: 1,
    batchSizes: [64],
  } as const;

  it('raises no alarm where nothing changes', { timeout: 60_000 }, () => {
    const trials = [...stationaryTrials(options, 60)];
    expect(trials.reduce((sum, { alarms }) => sum + alarms, 0)).toBe(0);
  });

  it('finds semantic hacks by the second opinion', { timeout: 60_000 }, () => {
    const trials = [...plantedTrials(options, 0.2, 'semantic')];
    expect(trials.every(({ alarm = -1, start }) => alarm >= start)).toBe(true);
  });
});
