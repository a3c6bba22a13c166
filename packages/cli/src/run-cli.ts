import { stripVTControlCharacters } from 'node:util';
import { RlpError } from '@rlp/core';
import { type ArgsDef, type CommandDef, defineCommand, renderUsage, runCommand } from 'citty';
import type { CliContext } from './context.ts';
import { analyzeCommand, reportCommand } from './monitor-commands.ts';

const monitor = defineCommand({
  meta: { name: 'monitor', description: 'Reward quality: reports of runs, analysis of responses' },
  subCommands: { report: reportCommand, analyze: analyzeCommand },
});

const rlp = defineCommand({
  meta: { name: 'rlp', description: 'Reinforcement learning of language models' },
  subCommands: { monitor },
});

/**
 * Runs the command `rlp` with some arguments.
 *
 * @returns Its exit code: 0; 1 where the command could not do what it was asked; 2 where it was asked for nothing it knows.
 */
export async function runCli(
  args: readonly string[],
  context: CliContext = { say: console.log, complain: console.error },
): Promise<number> {
  const [group = '', name = ''] = args;
  const command = commands.get(`${group} ${name}`);
  const wantsHelp = group === '' || args.includes('--help') || args.includes('-h');
  if (wantsHelp) {
    context.say(await (command?.usage() ?? groupUsage(group)));
    return 0;
  }
  if (command === undefined) {
    context.complain(
      `rlp: there is no command ${[group, name].join(' ').trim()}\n${await groupUsage(group)}`,
    );
    return 2;
  }
  const unknown = command.unknownFlags(args.slice(2));
  if (unknown.length > 0) {
    context.complain(
      `rlp ${group} ${name}: there is no flag ${unknown.join(', ')}\n${await command.usage()}`,
    );
    return 2;
  }
  try {
    await command.run(args.slice(2), context);
    return 0;
  } catch (error) {
    context.complain(describe(error));
    return isUsageError(error) ? 2 : 1;
  }
}

interface Command {
  usage(): Promise<string>;
  /** The flags among some arguments that it does not have: citty would let them pass. */
  unknownFlags(args: readonly string[]): string[];
  run(args: readonly string[], context: CliContext): Promise<unknown>;
}

const commands: ReadonlyMap<string, Command> = new Map([
  ['monitor report', commandOf(reportCommand)],
  ['monitor analyze', commandOf(analyzeCommand)],
]);

function commandOf<Args extends ArgsDef>(definition: CommandDef<Args>): Command {
  return {
    usage: () => usageOf(definition, 'rlp monitor'),
    unknownFlags: (args) =>
      args.flatMap((argument) => {
        const [flag = ''] = argument.split('=');
        return /^-\D/.test(flag) && !Object.hasOwn(definition.args ?? {}, flag.slice(2)) ? [flag] : [];
      }),
    run: (args, data) => runCommand(definition, { rawArgs: [...args], data }),
  };
}

/** Of the group of commands, or of all groups. */
function groupUsage(group: string): Promise<string> {
  return group === 'monitor' ? usageOf(monitor, 'rlp') : usageOf(rlp);
}

/** Without colours, which citty writes to files as well; `parent` is what is typed before the command's name. */
async function usageOf<Args extends ArgsDef>(command: CommandDef<Args>, parent?: string): Promise<string> {
  return stripVTControlCharacters(
    await renderUsage(command, parent ? { meta: { name: parent } } : undefined),
  );
}

/** Missing or unknown arguments, as citty tells them. */
function isUsageError(error: unknown): boolean {
  return error instanceof Error && error.name === 'CLIError';
}

/** What we, the arguments or the system refuse is told in a line; anything else is a bug, whose stack helps. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isTold = error instanceof RlpError || isUsageError(error) || 'syscall' in error;
  return isTold ? error.message : (error.stack ?? error.message);
}
