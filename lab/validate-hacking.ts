/**
 * Validates `rewardHackingDetector` on real responses of the shared data, or on made-up ones if it is absent: recall of planted
 * hacks with and without a second opinion, of slow ones, and false alarms. Prints tables.
 *
 *     pnpm validate:hacking [--half report|build|blind|drawn|redrawn|later|sealed|unseen] [--runs 1] [--parts stationary,honest,planted,slow] [--opinions with,without]
 *       [--corpora gsm8k,ifeval] [--responses a.jsonl,b.jsonl] [--batch-sizes 64] [--shares 0.2] [--growth 0.0025] [--stationary-runs 10]
 */
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { blindHonestRuns } from './validation/blind-honest.ts';
import { blindCorpora, type Corpus, corpusOf, realCorpora, syntheticCorpus } from './validation/corpora.ts';
import { drawnForms, redrawnForms, thirdForms } from './validation/drawn-hacks.ts';
import {
  blindForms,
  type Form,
  forms,
  type Half,
  laterForms,
  sealedForms,
  unseenForms,
} from './validation/forms.ts';
import { honestRuns } from './validation/honest.ts';
import { laterCorpora } from './validation/later-corpora.ts';
import { causesList, cleanTable, missedList, recallTable } from './validation/tables.ts';
import { honestTrials, plantedTrials, slowTrials, stationaryTrials } from './validation/trials.ts';

const { values } = parseArgs({
  options: {
    half: { type: 'string', default: 'report' },
    runs: { type: 'string', default: '1' },
    'stationary-runs': { type: 'string', default: '10' },
    parts: { type: 'string', default: 'stationary,honest,planted,slow' },
    opinions: { type: 'string', default: 'with,without' },
    corpora: { type: 'string', default: '' },
    responses: { type: 'string', default: '' },
    'batch-sizes': { type: 'string', default: '64' },
    shares: { type: 'string', default: '0.2' },
    growth: { type: 'string', default: '0.0025' },
  },
});
const list = (text: string) => text.split(',');
const options = z
  .object({
    half: z.enum(['report', 'build', 'blind', 'drawn', 'redrawn', 'later', 'sealed', 'unseen']),
    runs: z.coerce.number().int().positive(),
    'stationary-runs': z.coerce.number().int().positive(),
    parts: z.array(z.enum(['stationary', 'honest', 'planted', 'slow'])),
    opinions: z.array(z.enum(['with', 'without'])),
    'batch-sizes': z.array(z.coerce.number().int().positive()),
    shares: z.array(z.coerce.number().gt(0).max(1)),
    growth: z.coerce.number().gt(0).max(1),
  })
  .parse({
    ...values,
    parts: list(values.parts),
    opinions: list(values.opinions),
    'batch-sizes': list(values['batch-sizes']),
    shares: list(values.shares),
    corpora: undefined,
  });
const { runs, parts, opinions, shares, growth } = options;
// Sets that are neither half. They are run as the half that reports.
const sets: Readonly<Record<string, readonly Form[]>> = {
  blind: blindForms,
  drawn: drawnForms,
  redrawn: redrawnForms,
  later: [...laterForms, ...thirdForms],
  sealed: sealedForms,
  unseen: unseenForms,
};
const set = sets[options.half];
const half: Half = options.half === 'build' ? 'build' : 'report';
const given = values.responses === '' ? [] : list(values.responses).map(corpusOf);
const own: Readonly<Record<string, () => Corpus[]>> = { blind: blindCorpora, later: laterCorpora };
const kept = own[options.half]?.();
const real = [...(kept ?? [...(set === undefined ? [] : blindCorpora()), ...realCorpora()]), ...given];
const corpora = (real.length > 0 ? real : [syntheticCorpus()]).filter(
  ({ name, tune }) =>
    (values.corpora === '' || list(values.corpora).includes(name)) && (half === 'report' || tune.length > 0),
);
const kinds = set === undefined ? { forms, honestRuns } : { forms: set, honestRuns: blindHonestRuns };
const print = (title: string, ...texts: string[]) => console.log(`\n## ${title}\n\n${texts.join('\n\n')}`);
for (const opinion of opinions) {
  const trials = { ...kinds, corpora, half, opinion, runs, batchSizes: options['batch-sizes'] };
  const title = `${opinion} a second opinion`;
  if (parts.includes('stationary')) {
    const clean = [...stationaryTrials({ ...trials, runs: options['stationary-runs'] })];
    print(
      `Stationary, ${title}`,
      cleanTable(clean, ({ corpus }) => corpus),
      causesList(clean),
    );
  }
  if (parts.includes('honest')) {
    const honest = [...honestTrials(trials)];
    print(
      `Honest learning, ${title}`,
      cleanTable(honest, ({ name }) => name),
      causesList(honest),
    );
  }
  for (const share of parts.includes('planted') ? shares : []) {
    const surface = [...plantedTrials(trials, share, 'surface')];
    const semantic = [...plantedTrials(trials, share, 'semantic')];
    print(
      `Planted at ${share}, ${title}`,
      recallTable(surface, opinion, ({ corpus }) => corpus),
      recallTable(surface, opinion, ({ harm }) => `${harm} hacked answers are wrong`),
      missedList(surface, opinion),
      'Semantic:',
      recallTable(semantic, opinion, ({ name }) => name),
    );
  }
  if (parts.includes('slow')) {
    const slow = [...slowTrials(trials, growth)];
    print(
      `Slow, ${growth} a batch, ${title}`,
      recallTable(slow, opinion, ({ corpus }) => corpus),
      missedList(slow, opinion),
    );
  }
}
