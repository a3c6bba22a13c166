import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';
import type { Finding } from './doctor/finding.ts';
import { checkMachine } from './doctor/machine.ts';
import { checkModel } from './doctor/model.ts';
import { checkPairs, holdsPairs } from './doctor/pairs.ts';
import { checkRewards, checkRewardsOfRun } from './doctor/rewards.ts';
import { checkRunFile, isRunFile } from './doctor/run-file.ts';
import { countOf } from './numbers.ts';

/** `rlp doctor`. */
export const doctorCommand = defineCommand({
  meta: { name: 'doctor', description: 'Check this machine, a model, rewards or a run before it starts' },
  args: {
    model: {
      type: 'positional',
      description: 'Model folder, folder of a run, name on the hub, or configuration of a run',
      required: false,
    },
    data: {
      type: 'string',
      description: 'JSON Lines whose first ten tasks are graded, or with preference pairs',
      valueHint: 'FILE',
    },
    grader: { type: 'string', description: 'Compare answers as math (default) or exact', valueHint: 'NAME' },
    rows: {
      type: 'string',
      description: 'Sequences of a training step, for memory and speed. Default 8',
      valueHint: 'N',
    },
    length: { type: 'string', description: 'Tokens of a sequence. Default 256', valueHint: 'N' },
    json: { type: 'boolean', description: 'Print the findings as JSON' },
  },
  async run({ args, data }): Promise<'well' | 'failed'> {
    const { print, signal, engine } = data as CliContext;
    const shape = { rows: countOf('rows', args.rows) ?? 8, length: countOf('length', args.length) ?? 256 };
    const findings: Finding[] = await checkMachine();
    const file =
      args.model !== undefined && isRunFile(args.model) ? await checkRunFile(args.model) : undefined;
    if (file !== undefined) findings.push(file.finding);
    const model = file === undefined ? args.model : file.model;
    if (model !== undefined) findings.push(...(await checkModel(model, shape, { signal, engine })));
    if (args.data !== undefined && model !== undefined && (await holdsPairs(args.data, signal)))
      findings.push(...(await checkPairs({ model, data: args.data, mode: 'dpo' }, signal)));
    else if (args.data !== undefined) findings.push(...(await checkRewards(args.data, args.grader, signal)));
    else if (file?.config !== undefined) {
      findings.push(...(await checkPairs(file.config, signal)));
      findings.push(...(await checkRewardsOfRun(file.config, signal)));
    }
    const failed = findings.filter(({ state }) => state === 'problem').length;
    if (args.json) print(JSON.stringify({ ok: failed === 0, findings }));
    else {
      const width = Math.max(...findings.map(({ name }) => name.length));
      const marks = { fine: 'ok     ', note: 'note   ', problem: 'PROBLEM' } as const;
      for (const { name, state, text } of findings) print(`${marks[state]}  ${name.padEnd(width)}  ${text}`);
    }
    return failed === 0 ? 'well' : 'failed';
  },
});
