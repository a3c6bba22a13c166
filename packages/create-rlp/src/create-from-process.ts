import { parseArgs } from 'node:util';
import { createProject, nextSteps, packageVersion, templates } from './create-project.ts';

/**
 * Runs `npm create rlp` with the arguments of this process.
 *
 * @returns The exit code.
 */
export async function createFromProcess(): Promise<number> {
  const asked = argumentsOf(process.argv.slice(2));
  const names = Object.entries(templates).map(([name, text]) => `  ${name}: ${text}`);
  const usage = `npm create rlp FOLDER [-- --template NAME] makes a project in FOLDER, by default in this one. Templates:\n${names.join('\n')}\n`;
  if (typeof asked === 'string') {
    process.stderr.write(`${asked}\n${usage}`);
    return 2;
  }
  if (asked.values.help || asked.values.version) {
    process.stdout.write(asked.values.help ? usage : `${await packageVersion()}\n`);
    return 0;
  }
  try {
    const [directory = '.'] = asked.positionals;
    const { template } = asked.values;
    process.stdout.write(`${nextSteps(await createProject({ directory, template }))}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

const options = {
  template: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

/** The arguments, or what is wrong with them. */
function argumentsOf(args: readonly string[]) {
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true });
    const [, surplus] = parsed.positionals;
    return surplus === undefined ? parsed : `expected one folder, got also ${JSON.stringify(surplus)}`;
  } catch (error) {
    // Node says more, about arguments that begin with a dash.
    return error instanceof Error ? error.message.replace(/\. .*/s, '') : String(error);
  }
}
