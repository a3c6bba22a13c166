import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { RlpError } from '@rlp/core';
import { type ArgsDef, type CommandDef, defineCommand, renderUsage, runCommand } from 'citty';
import type { CliContext } from './context.ts';
import { analyzeCommand, reportCommand } from './monitor-commands.ts';
import { verifyCommand } from './run-commands.ts';
import { viewCommand } from './view-command.ts';

const monitor = defineCommand({
  meta: { name: 'monitor', description: 'Reward quality of runs and of saved responses' },
  subCommands: { report: reportCommand, analyze: analyzeCommand },
});

const run = defineCommand({
  meta: { name: 'run', description: 'Directories of training runs' },
  subCommands: { verify: verifyCommand },
});

const groups: ReadonlyMap<string, CommandDef> = new Map([
  ['monitor', monitor],
  ['run', run],
]);

const rlp = defineCommand({
  meta: { name: 'rlp', description: 'Reinforcement learning of language models' },
  subCommands: { view: viewCommand, monitor, run },
});

/**
 * Runs the command `rlp`.
 *
 * @returns The exit code: 0, 1 if the command failed or found something broken, or 2 for an unknown command or bad arguments.
 */
export async function runCli(
  args: readonly string[],
  context: CliContext = { print: console.log, printError: console.error },
): Promise<number> {
  const [group = '', second = ''] = args;
  // A command has one word, or two if it belongs to a group.
  const name = groups.has(group) ? second : '';
  const title = `${group} ${name}`.trim();
  const command = commands.get(title);
  const rest = args.slice(name === '' ? 1 : 2);
  if (group === '--version') {
    context.print(packageVersion());
    return 0;
  }
  const isGroup = group === '' || (name === '' && groups.has(group));
  if (isGroup || args.includes('--help') || args.includes('-h')) {
    context.print(await (command?.usage() ?? groupUsage(group)));
    return 0;
  }
  if (command === undefined) {
    context.printError(
      `rlp: unknown command "${[group, second].join(' ').trim()}"\n${await groupUsage(group)}`,
    );
    return 2;
  }
  const unknown = command.unknownFlags(rest);
  if (unknown.length > 0) {
    context.printError(`rlp ${title}: unknown flag ${unknown.join(', ')}\n${await command.usage()}`);
    return 2;
  }
  try {
    const { result } = await command.run(rest, context);
    return result === 'failed' ? 1 : 0;
  } catch (error) {
    context.printError(describe(error));
    return isUsageError(error) ? 2 : 1;
  }
}

interface Command {
  usage(): Promise<string>;
  /** Flags that the command does not have. citty ignores them. */
  unknownFlags(args: readonly string[]): string[];
  /** The result is `'failed'` if the command ran and found that something is wrong. */
  run(args: readonly string[], context: CliContext): Promise<{ readonly result: unknown }>;
}

const commands: ReadonlyMap<string, Command> = new Map([
  ['view', commandOf(viewCommand, 'rlp')],
  ['monitor report', commandOf(reportCommand, 'rlp monitor')],
  ['monitor analyze', commandOf(analyzeCommand, 'rlp monitor')],
  ['run verify', commandOf(verifyCommand, 'rlp run')],
]);

function commandOf<Args extends ArgsDef>(definition: CommandDef<Args>, parent: string): Command {
  return {
    usage: () => usageOf(definition, parent),
    unknownFlags: (args) =>
      args.flatMap((argument) => {
        const [flag = ''] = argument.split('=');
        return /^-\D/.test(flag) && !Object.hasOwn(definition.args ?? {}, flag.slice(2)) ? [flag] : [];
      }),
    run: (args, data) => runCommand(definition, { rawArgs: [...args], data }),
  };
}

function packageVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/** Usage of a group of commands, or of all groups. */
function groupUsage(group: string): Promise<string> {
  const definition = groups.get(group);
  return definition === undefined ? usageOf(rlp) : usageOf(definition, 'rlp');
}

/** Usage without colours, because citty writes them to files too. `parent` precedes the command's name. */
async function usageOf<Args extends ArgsDef>(command: CommandDef<Args>, parent?: string): Promise<string> {
  return stripVTControlCharacters(
    await renderUsage(command, parent ? { meta: { name: parent } } : undefined),
  );
}

/** Whether citty reports missing or unknown arguments. */
function isUsageError(error: unknown): boolean {
  return error instanceof Error && error.name === 'CLIError';
}

/** Expected errors are one line. Anything else is a bug and comes with its stack. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isTold = error instanceof RlpError || isUsageError(error) || 'syscall' in error;
  return isTold ? error.message : (error.stack ?? error.message);
}
