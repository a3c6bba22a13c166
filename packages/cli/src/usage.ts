import { readFileSync } from 'node:fs';
import { stripVTControlCharacters, styleText } from 'node:util';
import { commandGroups, commandTable, type Loaded } from './command-table.ts';

/** Version of the package. */
export function packageVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

type Style = Parameters<typeof styleText>[0];

/** Help for all commands, or for those of a group. Loads none of them. */
export function overview(group: string, colors: boolean): string {
  const styled = (style: Style, text: string) => (colors ? styleText(style, text) : text);
  const entries = Object.entries(commandTable).filter(
    ([name]) => group === '' || name.startsWith(`${group} `),
  );
  const width = Math.max(...entries.map(([name]) => name.length));
  const title = group === '' ? 'Reinforcement learning of language models' : commandGroups[group]!;
  const lines = entries.map(([name, { summary }]) => `  ${styled('cyan', name.padEnd(width))}  ${summary}`);
  const usage = `rlp ${group === '' ? '' : `${group} `}COMMAND [OPTIONS]`;
  return [
    `${title} (rlp v${packageVersion()})`,
    `\n${styled('bold', 'USAGE')} ${usage}`,
    `\n${styled('bold', 'COMMANDS')}`,
    ...lines,
    `\nrlp COMMAND --help describes a command. --json prints results as JSON where there are any, --debug the stack of an error.`,
  ].join('\n');
}

/** Help for one command: usage, options, examples. */
export async function commandUsage(title: string, command: Loaded, colors: boolean): Promise<string> {
  const { renderUsage } = await import('citty');
  const words = title.split(' ');
  const parent = ['rlp', ...words.slice(0, -1)].join(' ');
  const usage = await renderUsage(command, { meta: { name: parent } });
  const examples = commandTable[title]!.examples.map((example) => `  rlp ${example}`);
  const heading = colors ? styleText('bold', 'EXAMPLES') : 'EXAMPLES';
  // citty writes every alias as if it were one letter.
  const aliased = usage.replace(/(?<!-)-(?=\w{2,}, --)/g, '--');
  const plain = colors ? aliased : stripVTControlCharacters(aliased);
  return `${plain.trimEnd()}\n\n${heading}\n\n${examples.join('\n')}`;
}
