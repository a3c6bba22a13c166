/**
 * `pnpm mutation [PACKAGE …] [--files GLOB,GLOB]`: how many small faults in a package's source its own tests find.
 *
 * Stryker changes one place at a time and runs the tests that reach it. Settings are in `stryker.config.json`, results
 * in `runs/mutation/PACKAGE`, scores reached and what they leave out in `lab/notes/mutation.md`. Exits with 1 if a
 * package scores less than `thresholds.break`.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { Stryker } from '@stryker-mutator/core';

/** Small packages first, so that a night that ends early has measured most of them. */
const packages = ['data', 'env', 'rollout', 'core', 'inference', 'algorithms', 'backprop'];

interface MutantResult {
  readonly status: string;
}

/** Detected share of the mutants that tests can reach or should have reached, in percent. */
function score(mutants: readonly MutantResult[]): number {
  const count = (...statuses: string[]) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const detected = count('Killed', 'Timeout');
  return (100 * detected) / (detected + count('Survived', 'NoCoverage'));
}

async function measure(name: string, files: readonly string[]): Promise<number> {
  process.env.MUTATION_PACKAGE = name;
  const source = `packages/${name}/src`;
  const chosen = files.length === 0 ? ['**/*.ts'] : files;
  const mutate = [...chosen.map((file) => `${source}/${file}`), `!${source}/**/{*.test,testing,index}.ts`];
  const folder = `runs/mutation/${name}`;
  const results = await new Stryker({
    mutate: [...mutate, `!${source}/testing/**`],
    jsonReporter: { fileName: `${folder}/mutation.json` },
    htmlReporter: { fileName: `${folder}/mutation.html` },
  }).runMutationTest();
  return score(results);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { files: { type: 'string', default: '' } },
});
const unknown = positionals.filter((name) => !packages.includes(name));
if (unknown.length > 0) {
  throw new Error(
    `mutation: no package named ${unknown.join(', ')}, expected some of: ${packages.join(', ')}`,
  );
}
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { thresholds } = JSON.parse(readFileSync('stryker.config.json', 'utf8')) as {
  thresholds: { break: number };
};
const files = values.files.split(',').filter((file) => file !== '');
const scores = new Map<string, number>();
for (const name of positionals.length === 0 ? packages : positionals)
  scores.set(name, await measure(name, files));
for (const [name, value] of scores) console.log(`${name.padEnd(12)} ${value.toFixed(1).padStart(6)} %`);
if ([...scores.values()].some((value) => !(value >= thresholds.break))) process.exitCode = 1;
