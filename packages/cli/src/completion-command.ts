import { type CommandDef, defineCommand } from 'citty';
import type { CliContext } from './context.ts';
import { UsageError } from './usage-error.ts';

/** Names and flags that a shell completes. */
interface Words {
  /** Flags by command. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  readonly groups: readonly string[];
}

/** What completion reads of the table of commands. */
interface Completed {
  readonly table: Readonly<Record<string, { readonly load: () => Promise<CommandDef> }>>;
  readonly groups: Readonly<Record<string, string>>;
}

/** `rlp completion`, for a table of commands. */
export const completionCommand = (completed: Completed) =>
  defineCommand({
    meta: { name: 'completion', description: 'Print a script that completes rlp in a shell' },
    args: { shell: { type: 'positional', description: 'bash, zsh or fish', required: true } },
    async run({ args, data }) {
      const { print } = data as CliContext;
      const scripts: Readonly<Record<string, (words: Words) => string>> = { bash, zsh, fish };
      if (!Object.hasOwn(scripts, args.shell)) {
        throw new UsageError(`rlp completion: expected bash, zsh or fish, got "${args.shell}"`);
      }
      print(scripts[args.shell]!(await wordsOf(completed)));
    },
  });

async function wordsOf({ table, groups }: Completed): Promise<Words> {
  const flags = new Map<string, readonly string[]>();
  for (const [name, { load }] of Object.entries(table)) {
    const definitions = Object.entries((await definitionsOf(await load())) ?? {});
    const named = definitions.filter(([, { type }]) => type !== 'positional').map(([flag]) => `--${flag}`);
    flags.set(name, [...named, '--help']);
  }
  return { flags, groups: Object.keys(groups) };
}

async function definitionsOf({
  args,
}: CommandDef): Promise<Readonly<Record<string, { type?: string }>> | undefined> {
  const value: unknown = typeof args === 'function' ? args() : args;
  return (await value) as Readonly<Record<string, { type?: string }>> | undefined;
}

/** First words, and the second words of each group. */
function firstWords({ flags }: Words): string[] {
  return [...new Set([...flags.keys()].map((name) => name.split(' ')[0]!))];
}

const secondWords = ({ flags }: Words, group: string) =>
  [...flags.keys()].filter((name) => name.startsWith(`${group} `)).map((name) => name.split(' ')[1]!);

/** Lines of bash and zsh that set `choices`, for the place of the word in `at` and the first two words. */
function choices(all: Words, [first, second]: readonly [string, string]): string {
  const flags = [...all.flags].map(([name, each]) => `    "${name}") choices="${each.join(' ')}" ;;`);
  const groups = all.groups.map((group) => `    ${group}) choices="${secondWords(all, group).join(' ')}" ;;`);
  return `  local command="${first}" choices=""
  case "$command" in ${all.groups.join('|')}) [ "$at" -gt 2 ] && command="$command ${second}" ;; esac
  if [ "$at" -eq 1 ]; then choices="${firstWords(all).join(' ')} --help --version"
  else case "$command" in
${[...groups, ...flags].join('\n')}
  esac; fi`;
}

function bash(all: Words): string {
  return `# eval "$(rlp completion bash)"
_rlp() {
  local current="\${COMP_WORDS[COMP_CWORD]}" at="$COMP_CWORD"
${choices(all, [`\${COMP_WORDS[1]}`, `\${COMP_WORDS[2]}`])}
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
  [ "\${#COMPREPLY[@]}" -eq 0 ] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _rlp rlp`;
}

function zsh(all: Words): string {
  return `# eval "$(rlp completion zsh)"
(( $+functions[compdef] )) || { autoload -U compinit && compinit -i }
_rlp() {
  local at=$((CURRENT - 1))
${choices(all, ['$words[2]', '$words[3]'])}
  compadd -- \${=choices} || _files
}
compdef _rlp rlp`;
}

function fish(all: Words): string {
  const first = `complete -c rlp -f -n __fish_use_subcommand -a "${firstWords(all).join(' ')}"`;
  const second = all.groups.map((group) => {
    const words = secondWords(all, group).join(' ');
    const typed = '(commandline -opc)';
    const isNext = `test (count ${typed}) -eq 2; and test ${typed}[2] = ${group}`;
    return `complete -c rlp -f -n "${isNext}" -a "${words}"`;
  });
  const flags = [...all.flags].flatMap(([name, each]) => {
    const seen = name
      .split(' ')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ');
    return each.map((flag) => `complete -c rlp -n "${seen}" -l ${flag.slice(2)}`);
  });
  return ['# rlp completion fish | source', first, ...second, ...flags].join('\n');
}
