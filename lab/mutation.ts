/**
 * `pnpm mutation [PACKAGE …] [--sample COUNT] [--seed SEED] [--files GLOB,GLOB]`: how many small faults in a package's source its
 * own tests find.
 *
 * Stryker changes one place at a time and runs the tests that reach it: everywhere, or in a random sample of the places. Settings
 * are in `stryker.config.json`, results in `runs/mutation/PACKAGE`, scores reached and what they leave out in
 * `lab/notes/mutation.md`. Exits with 1 if a package scores less than `thresholds.break`.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { Stryker } from '@stryker-mutator/core';
import { type Score, score } from './mutation/score.ts';

/** Small packages first, so that a night that ends early has measured most of them. */
const packages = ['data', 'env', 'rollout', 'core', 'inference', 'algorithms', 'backprop'];

async function measure(name: string, files: readonly string[]): Promise<Score> {
  process.env.MUTATION_PACKAGE = name;
  const source = `packages/${name}/src`;
  const chosen = files.length === 0 ? ['**/*.ts'] : files;
  const mutate = [
    ...chosen.map((file) => `${source}/${file}`),
    `!${source}/**/{*.test,*.fixture,testing,index}.ts`,
  ];
  const folder = `runs/mutation/${name}`;
  const results = await new Stryker({
    checkers: process.env.MUTATION_SAMPLE === undefined ? [] : ['sample'],
    mutate: [...mutate, `!${source}/testing/**`],
    testRunner: 'vitest-with-files',
    // Stryker counts the mutants that no test reaches, but not the share that was drawn. The score is judged below.
    thresholds: { ...thresholds, break: null },
    jsonReporter: { fileName: `${folder}/mutation.json` },
    htmlReporter: { fileName: `${folder}/mutation.html` },
  }).runMutationTest();
  return score(results);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    files: { type: 'string', default: '' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});
const unknown = positionals.filter((name) => !packages.includes(name));
if (unknown.length > 0) {
  throw new Error(
    `mutation: no package named ${unknown.join(', ')}, expected some of: ${packages.join(', ')}`,
  );
}
if (values.sample !== undefined) {
  if (!/^[1-9]\d*$/.test(values.sample)) {
    throw new Error(`mutation: --sample must be an integer of at least 1, got ${values.sample}`);
  }
  Object.assign(process.env, { MUTATION_SAMPLE: values.sample, MUTATION_SEED: values.seed });
}
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { thresholds } = JSON.parse(readFileSync('stryker.config.json', 'utf8')) as {
  thresholds: { high: number; low: number; break: number };
};
const files = values.files.split(',').filter((file) => file !== '');
const scores = new Map<string, Score>();
for (const name of positionals.length === 0 ? packages : positionals)
  scores.set(name, await measure(name, files));
for (const [name, found] of scores) {
  const [low, high] = found.interval.map((end) => end.toFixed(1));
  console.log(
    `${name.padEnd(12)} ${found.percent.toFixed(1).padStart(6)} % (${low} to ${high}), ${found.drawn} of ${found.reached} ` +
      `mutants run: ${found.survived} survived, ${found.timedOut} timed out; ${found.unreached} not reached by tests`,
  );
}
if ([...scores.values()].some(({ percent }) => !(percent >= thresholds.break))) process.exitCode = 1;
