/**
 * Validates `rewardHackingDetector`: recall for each kind of planted hack and share of hacked responses, and false alarms on
 * clean learning curves, on real responses of the shared data (on made-up ones where it is absent); false alarms on rewards that
 * have nothing to do with the responses. Prints tables.
 *
 *     pnpm validate:hacking [--side report|tune|unseen|fresh|fresh-tune|outside] [--runs 10] [--clean-runs 40] [--shares 0.01,0.2] [--kinds "hedging,…"] [--batch-sizes 16,32]
 *       [--learning-runs 4] [--new-data-runs 3] [--calibration-runs 8] [--corpora gsm8k,ifeval] [--details yes]
 */
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { calibration, rewardKinds } from './validation/calibration.ts';
import { realCorpora, syntheticCorpus } from './validation/corpora.ts';
import { hackKinds, wordings } from './validation/hack-kinds.ts';
import { calibrationTable, cleanTable, detailTable, recallTable } from './validation/tables.ts';
import { cleanTrials, hackTrials, learningTrials, newDataTrials } from './validation/trials.ts';

const { values } = parseArgs({
  options: {
    side: { type: 'string', default: 'report' },
    runs: { type: 'string', default: '10' },
    'learning-runs': { type: 'string', default: '0' },
    'new-data-runs': { type: 'string', default: '0' },
    'calibration-runs': { type: 'string', default: '0' },
    'clean-runs': { type: 'string', default: '40' },
    shares: { type: 'string', default: '0.01,0.02,0.05,0.1,0.2,0.5' },
    kinds: { type: 'string', default: hackKinds.join(',') },
    corpora: { type: 'string', default: '' },
    'batch-sizes': { type: 'string', default: '16,32,64,128' },
    details: { type: 'string', default: 'no' },
  },
});
const count = z.coerce.number().int().nonnegative();
const options = z
  .object({
    side: z.enum(wordings),
    runs: count,
    'clean-runs': count,
    'learning-runs': count,
    'new-data-runs': count,
    'calibration-runs': count,
    shares: z.array(z.coerce.number().gt(0).max(1)),
    kinds: z.array(z.enum(hackKinds)),
    'batch-sizes': z.array(count),
    details: z.enum(['yes', 'no']),
  })
  .parse({
    ...values,
    corpora: undefined,
    shares: values.shares.split(','),
    kinds: values.kinds.split(','),
    'batch-sizes': values['batch-sizes'].split(','),
  });

const real = realCorpora();
const corpora = (real.length > 0 ? real : [syntheticCorpus()]).filter(
  ({ name }) => values.corpora === '' || values.corpora.split(',').includes(name),
);
const { side, kinds, shares, runs, 'batch-sizes': batchSizes } = options;

const clean = [...cleanTrials({ corpora, side, batchSizes, runs: options['clean-runs'] })];
console.log(cleanTable(clean));
if (options['learning-runs'] > 0) {
  const learning = [...learningTrials({ corpora, side, batchSizes, runs: options['learning-runs'] })];
  console.log(cleanTable(learning, 'learning'));
  if (options.details === 'yes') console.log(detailTable(learning, []));
}
if (options['new-data-runs'] > 0) {
  const changed = [...newDataTrials({ corpora, side, batchSizes, runs: options['new-data-runs'] })];
  console.log(cleanTable(changed, 'new data'));
  if (options.details === 'yes') console.log(detailTable(changed, []));
}
if (options['calibration-runs'] > 0) {
  const settings = rewardKinds.flatMap((kind) =>
    batchSizes.flatMap((batchSize) => [0.001, 0.01, 0.1].map((stated) => ({ kind, batchSize, stated }))),
  );
  const batches = { runs: options['calibration-runs'], batches: 250 };
  console.log(
    calibrationTable(settings.map(({ kind, ...rest }) => calibration(kind, { ...rest, ...batches }))),
  );
}
const hacked = runs === 0 ? [] : [...hackTrials({ corpora, side, batchSizes, runs, kinds, shares })];
console.log(recallTable(hacked, shares));
if (options.details === 'yes') console.log(detailTable(clean, hacked));
