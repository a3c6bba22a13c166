/**
 * Damages what others write (files of models, tasks, states, options) and checks that each reader returns or throws an RlpError.
 *
 *     npx tsx --conditions=@rlp/source lab/fuzz.ts [--inputs 20000] [--seed TEXT] [--target TEXT]
 */
import { parseArgs } from 'node:util';
import { fuzz } from './fuzz/fuzz.ts';
import { targets } from './fuzz/targets.ts';

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: 'night' },
    target: { type: 'string', default: '' },
  },
});

for (const target of targets.filter(({ name }) => name.includes(values.target))) {
  const findings = await fuzz(target, Number(values.inputs), values.seed);
  process.stdout.write(`${target.name}: ${values.inputs} inputs, ${findings.length} findings\n`);
  for (const { problem, input } of findings) process.stdout.write(`  ${problem}\n    ${input}\n`);
  if (findings.length > 0) process.exitCode = 1;
}
