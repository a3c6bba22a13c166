import { inspect } from 'node:util';
import { commandGroups, commandTable, type Loaded } from './command-table.ts';
import type { CliContext } from './context.ts';
import { argumentProblem, unknownCommand } from './mistakes.ts';
import { commandUsage, overview, packageVersion } from './usage.ts';
import { UsageError } from './usage-error.ts';

/**
 * Runs the command `rlp`.
 *
 * @returns The exit code: 0, 1 if the command failed or found something broken, 2 for an unknown command or bad arguments, or 130 if it was
 *   interrupted.
 */
export async function runCli(
  given: readonly string[],
  context: CliContext = { print: console.log, printError: console.error },
): Promise<number> {
  const { args, isDebug } = withoutDebug(given);
  const [group = '', second = ''] = args;
  if (group === '--version') {
    context.print(packageVersion());
    return 0;
  }
  const isGroup = Object.hasOwn(commandGroups, group);
  // A command has one word, or two if it belongs to a group.
  const word = isGroup && !second.startsWith('-') ? second : '';
  const title = `${group} ${word}`.trim();
  const asksForHelp = args.includes('--help') || args.includes('-h');
  if (!Object.hasOwn(commandTable, title)) {
    const isOverview =
      group === '' || group.startsWith('-') ? asksForHelp || group === '' : isGroup && word === '';
    if (isOverview) {
      context.print(overview(isGroup ? group : '', context.colors === true));
      return 0;
    }
    context.printError(await unknownCommand(title, isGroup ? group : ''));
    return 2;
  }
  try {
    const command = await commandTable[title]!.load();
    if (asksForHelp) {
      context.print(await commandUsage(title, command, context.colors === true));
      return 0;
    }
    return await run(title, command, { rest: args.slice(word === '' ? 1 : 2), context });
  } catch (error) {
    if (context.signal?.aborted) return 130;
    context.printError(await described(title, error, isDebug));
    return isUsageError(error) ? 2 : 1;
  }
}

async function run(
  title: string,
  command: Loaded,
  { rest, context }: { readonly rest: readonly string[]; readonly context: CliContext },
): Promise<number> {
  const problem = await argumentProblem(title, command, rest);
  if (problem !== undefined) {
    context.printError(problem);
    return 2;
  }
  const { runCommand } = await import('citty');
  const { result } = await runCommand(command, { rawArgs: [...rest], data: context });
  if (result === 'interrupted') return 130;
  return result === 'failed' ? 1 : 0;
}

/** `--debug` belongs to every command. What follows `--` are values. */
function withoutDebug(given: readonly string[]) {
  const end = given.indexOf('--');
  const isFlag = (argument: string, place: number) => argument === '--debug' && (end < 0 || place < end);
  return { args: given.filter((argument, place) => !isFlag(argument, place)), isDebug: given.some(isFlag) };
}

/** Whether a command, or citty, reports missing or unfit arguments. */
function isUsageError(error: unknown): boolean {
  return error instanceof UsageError || (error instanceof Error && error.name === 'CLIError');
}

/** Expected errors are one message. Anything else is a bug. */
async function described(title: string, error: unknown, isDebug: boolean): Promise<string> {
  if (!(error instanceof Error)) return `rlp ${title}: ${String(error)}`;
  // With its causes, because what went wrong in a reward or an environment is one of them.
  if (isDebug) return inspect(error);
  const { RlpError } = await import('@rlp/core');
  const isStopped = error.name === 'RunStoppedError' && error.cause !== undefined;
  if (error instanceof RlpError) return `${error.message}${isStopped ? ' (--debug prints its cause)' : ''}`;
  if ('syscall' in error) return `rlp ${title}: ${systemProblem(error as NodeJS.ErrnoException)}`;
  if (isUsageError(error)) return `rlp ${title}: ${error.message}. See rlp ${title} --help`;
  return `rlp ${title}: ${error.message} (unexpected; --debug prints the stack)`;
}

/** What the system could not do, with a remedy for the usual mistakes. */
function systemProblem({ code, path, message, syscall }: NodeJS.ErrnoException): string {
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const disk = path === undefined ? 'the disk' : `the disk of ${path}`;
    return `no space is left on ${disk}; free some and give the same command again`;
  }
  if (code === 'EMFILE' || code === 'ENFILE')
    return 'too many files are open; raise the limit with ulimit -n, and give the same command again';
  if (path === undefined) return message;
  if (code === 'EROFS')
    return `${path} is on a disk that may only be read; choose another folder, or mount the disk for writing`;
  if (code === 'EIO' || code === 'ESTALE')
    return `the disk of ${path} reports an error (${code}); check the disk, and give the same command again`;
  if (code === 'ENOENT' && syscall === 'mkdir')
    return `${path} cannot be created there; choose a folder that can be written`;
  if (code === 'ENOENT') return `${path} does not exist; correct the path`;
  if (code === 'ENOTDIR' || code === 'EEXIST') return `${path}: expected a folder, got a file`;
  if (code === 'EISDIR') return `${path}: expected a file, got a folder`;
  if (code === 'EACCES' || code === 'EPERM')
    return `${path} may not be opened by this user; change its permissions`;
  return message;
}
