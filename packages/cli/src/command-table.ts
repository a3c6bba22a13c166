import type { CommandDef } from 'citty';

/** A command and what help says of it without loading it. */
export interface CommandEntry {
  /** One line for the list of commands. */
  readonly summary: string;
  /** Command lines that work, without `rlp`. */
  readonly examples: readonly string[];
  /** Loads the command with everything that it imports. */
  readonly load: () => Promise<Loaded>;
}

/** A definition of any arguments. */
// biome-ignore lint/suspicious/noExplicitAny: citty's definitions are invariant in their arguments.
export type Loaded = CommandDef<any>;

/** Groups of commands, whose names have two words. */
export const commandGroups: Readonly<Record<string, string>> = {
  monitor: 'Reward quality of runs and of saved responses',
  run: 'Directories of training runs',
  data: 'Datasets: files, folders and names of the hub',
};

/** All commands, in the order of help. Each is loaded when it is called. */
export const commandTable: Readonly<Record<string, CommandEntry>> = {
  view: {
    summary: 'Make a page of recorded trajectories: conversations, tokens, groups',
    examples: ['view runs/agent/trajectories --html agent.html'],
    load: async () => (await import('./view-command.ts')).viewCommand,
  },
  'monitor report': {
    summary: 'Make a report of a monitored run from its log files',
    examples: ['monitor report --metrics metrics.jsonl --alerts alerts.jsonl --out report.html'],
    load: async () => (await import('./monitor-commands.ts')).reportCommand,
  },
  'monitor analyze': {
    summary: 'Look for reward hacking in saved responses',
    examples: ['monitor analyze log.jsonl --response completion --reward score --html page.html'],
    load: async () => (await import('./monitor-commands.ts')).analyzeCommand,
  },
  'run verify': {
    summary: 'Compare the checkpoints of a run with their checksums',
    examples: ['run verify runs/quickstart'],
    load: async () => (await import('./run-commands.ts')).verifyCommand,
  },
  'data preview': {
    summary: 'Show the first rows of a dataset and how its columns are read',
    examples: ['data preview train.jsonl --rows 5', 'data preview openai/gsm8k --config main --split test'],
    load: async () => (await import('./data-commands.ts')).previewCommand,
  },
  'data stats': {
    summary: 'Count rows, kinds of values, lengths, duplicates and empty fields',
    examples: ['data stats train.jsonl --tokenizer models/Qwen3-0.6B'],
    load: async () => (await import('./data-commands.ts')).statsCommand,
  },
};
