import { parseArgs } from 'node:util';
import { createProject, nextSteps, templates } from './create-project.ts';

/**
 * Runs `npm create rlp` with the arguments of this process.
 *
 * @returns The exit code.
 */
export async function createFromProcess(): Promise<number> {
  const asked = argumentsOf(process.argv.slice(2));
  if (asked === undefined || asked.values.help) {
    const names = Object.entries(templates).map(([name, text]) => `  ${name}: ${text}`);
    process.stderr.write(
      `npm create rlp FOLDER [-- --template NAME] makes a project in FOLDER, by default in this one. Templates:\n${names.join('\n')}\n`,
    );
    return asked?.values.help ? 0 : 2;
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

/** `undefined` for arguments that it does not know. */
function argumentsOf(args: readonly string[]) {
  try {
    const options = { template: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true });
    return parsed.positionals.length > 1 ? undefined : parsed;
  } catch {
    return undefined;
  }
}
