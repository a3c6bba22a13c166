import { plural } from '@rlp/core';
import { commandGroups, commandTable, type Loaded } from './command-table.ts';

/** What to say about a command that does not exist. */
export async function unknownCommand(title: string, group: string): Promise<string> {
  const all = Object.keys(commandTable);
  const single = [...all.filter((name) => !name.includes(' ')), ...Object.keys(commandGroups)];
  const names = group === '' ? single : all.filter((name) => name.startsWith(`${group} `));
  const near = await nearest(title, names);
  const help = `rlp ${group === '' ? '' : `${group} `}--help`;
  return `rlp: unknown command "${title}"${near} ${help} lists the commands`;
}

/** What is wrong with the arguments of a call, which citty would ignore. `undefined` if nothing is. */
export async function argumentProblem(
  title: string,
  command: Loaded,
  args: readonly string[],
): Promise<string | undefined> {
  const definitions = Object.entries((await resolved(command.args)) ?? {});
  const known = definitions.flatMap(([name, { type, alias = [] }]) => {
    const names = [name, ...(typeof alias === 'string' ? [alias] : alias)];
    const flags = names.flatMap((each) => (each.length === 1 ? [`-${each}`, `--${each}`] : [`--${each}`]));
    return type === 'boolean' ? [...flags, `--no-${name}`] : flags;
  });
  const end = args.indexOf('--');
  const unknown = (end < 0 ? args : args.slice(0, end)).flatMap((argument) => {
    const [flag = ''] = argument.split('=');
    const isOwn = commandTable[title]?.flags === 'dotted' && /^--[\w-]+\./.test(flag);
    return /^-\D/.test(flag) && !known.includes(flag) && !isOwn ? [flag] : [];
  });
  if (unknown.length === 0) {
    const before = end < 0 ? args : args.slice(0, end);
    return (
      unfitValue(title, Object.fromEntries(definitions), before) ??
      repeatedValue(title, Object.fromEntries(definitions), before) ??
      surplus(title, command, args)
    );
  }
  const isDotted = commandTable[title]?.flags === 'dotted';
  const own = await nearest(unknown[0]!, known);
  const near = (isDotted && own === '.' && (await optionOf(unknown[0]!))) || own;
  return `rlp ${title}: unknown flag ${unknown.join(', ')}${near} See rlp ${title} --help`;
}

/** A flag whose value is missing, or that takes none. citty reads the first as empty text and the other as `true`. */
function unfitValue(
  title: string,
  definitions: Readonly<Record<string, Definition>>,
  args: readonly string[],
): string | undefined {
  const isFlag = (argument: string) => Object.hasOwn(definitions, argument.replace(/^--|=.*$/gs, ''));
  for (const [at, argument] of args.entries()) {
    const [, name = '', given] = /^--([\w-]+)(?:=(.*))?$/s.exec(argument) ?? [];
    const { type, valueHint = 'VALUE' } = Object.hasOwn(definitions, name) ? definitions[name]! : {};
    const next = args[at + 1] ?? '';
    const value = given ?? (next.startsWith('--') && isFlag(next) ? '' : next);
    if (type === 'string' && value === '')
      return `rlp ${title}: --${name} needs a value, as in --${name} ${valueHint}. See rlp ${title} --help`;
    if (type === 'boolean' && given !== undefined && !['true', 'false'].includes(given))
      return `rlp ${title}: --${name} takes no value, got "${given}". See rlp ${title} --help`;
  }
  return undefined;
}

/** A flag that was given twice, of which citty would take the last. */
function repeatedValue(
  title: string,
  definitions: Readonly<Record<string, Definition>>,
  args: readonly string[],
): string | undefined {
  const isDotted = commandTable[title]?.flags === 'dotted';
  const seen = new Set<string>();
  for (const [at, argument] of args.entries()) {
    const [, given] = /^--([\w-]+(?:\.[\w-]+)*)(?:=|$)/.exec(argument) ?? [];
    if (given === undefined || isValueOf(definitions, args[at - 1])) continue;
    const name = definedName(definitions, given);
    const takesValue = definitions[name]?.type === 'string' || (isDotted && name.includes('.'));
    if (takesValue && seen.has(name))
      return `rlp ${title}: --${name} takes one value and was given more than once; keep one of them. See rlp ${title} --help`;
    seen.add(name);
  }
  return undefined;
}

/** Whether an argument after this one is its value. */
function isValueOf(definitions: Readonly<Record<string, Definition>>, before: string | undefined): boolean {
  const name = definedName(definitions, before?.replace(/^--/, '') ?? '');
  return Object.hasOwn(definitions, name) && definitions[name]?.type === 'string';
}

/** Name of the flag that a name or an alias stands for. */
function definedName(definitions: Readonly<Record<string, Definition>>, given: string): string {
  const isIt = ([name, { alias = [] }]: [string, Definition]) =>
    name === given || [alias].flat().includes(given);
  return Object.entries(definitions).find(isIt)?.[0] ?? given;
}

/** The option of a run that a flag was meant for, as in `--learning-rate`. */
async function optionOf(flag: string): Promise<string | undefined> {
  // A run's option `output` has a flag of another name.
  if (flag === '--output') return '; did you mean --out?';
  const { defineRun } = await import('@rlp/run');
  const { OptionsError } = await import('@rlp/core');
  const name = flag.replace(/^-+/, '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  try {
    defineRun({ [name]: 0 } as never);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    const [, hint] =
      error.issues
        .map((issue) => issue.split(`Unrecognized option "${name}"; `))
        .find(([, found]) => found) ?? [];
    const flags = hint?.replace(/\boutput\b/, '--out').replace(/\w+(\.\w+)+/g, '--$&');
    return flags && `; ${flags}${flags.endsWith('?') ? '' : '.'}`;
  }
  return undefined;
}

/** Words after those that a command takes. A command that reads flags by itself says which of them lacks a value. */
async function surplus(title: string, command: Loaded, args: readonly string[]): Promise<string | undefined> {
  const isDotted = commandTable[title]?.flags === 'dotted';
  if (isDotted && args.some((argument) => /^--[\w-]+\.[^=]*$/.test(argument))) return undefined;
  const definitions = (await resolved(command.args)) ?? {};
  const optional = Object.entries(definitions).map(([name, each]) => [name, { ...each, required: false }]);
  const { parseArgs } = await import('citty');
  const given = parseArgs([...args], Object.fromEntries(optional))._;
  const taken = Object.values(definitions).filter(({ type }) => type === 'positional').length;
  const rest = given.slice(taken);
  return rest.length === 0
    ? undefined
    : `rlp ${title}: expected ${taken === 0 ? 'no arguments' : `at most ${plural(taken, 'argument')}`}, got also ${rest.map((each) => JSON.stringify(each)).join(', ')}. See rlp ${title} --help`;
}

interface Definition {
  readonly type?: string;
  readonly alias?: string | readonly string[];
  readonly valueHint?: string;
}

async function resolved(args: unknown): Promise<Readonly<Record<string, Definition>> | undefined> {
  const value: unknown = typeof args === 'function' ? (args as () => unknown)() : args;
  return (await value) as Readonly<Record<string, Definition>> | undefined;
}

/** `; did you mean …?`, or a full stop. */
async function nearest(given: string, names: readonly string[]): Promise<string> {
  const { nearNames } = await import('@rlp/core');
  const near = nearNames(given, names, (name) => name);
  return near.length === 0 ? '.' : `; did you mean ${near.join(' or ')}?`;
}
