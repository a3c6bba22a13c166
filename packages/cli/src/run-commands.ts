import { verifyRun } from '@rlp/data/store';
import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';

/** `rlp run verify`. */
export const verifyCommand = defineCommand({
  meta: { name: 'verify', description: 'Compare the checkpoints of a run with their checksums' },
  args: {
    directory: { type: 'positional', description: 'Directory of a run, or of one save', required: true },
    json: { type: 'boolean', description: 'Print the result as JSON' },
  },
  async run({ args, data }): Promise<'sound' | 'failed'> {
    const { print } = data as CliContext;
    const result = await verifyRun(args.directory);
    const { intact, problems, leftovers, holder } = result;
    if (args.json) print(JSON.stringify(result));
    else {
      for (const problem of problems) print(`broken: ${problem}`);
      for (const path of leftovers) print(`left by a crash: ${path}; the next save or load removes it`);
      if (holder !== undefined) print(`in use: process ${holder.pid} on ${holder.host} writes here`);
      print(`${args.directory}: ${intact.length} saves intact, ${problems.length} problems`);
    }
    return problems.length === 0 ? 'sound' : 'failed';
  },
});
