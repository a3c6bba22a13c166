import type { SubCommandsDef } from 'citty';

/** A command and what help says of it without loading it. */
export interface CommandEntry {
  /** One line for the list of commands. */
  readonly summary: string;
  /** Command lines that work, without `rlp`. */
  readonly examples: readonly string[];
  /** `'dotted'` takes flags such as `--algorithm.iterations=50`, which the command reads by itself. Default none. */
  readonly flags?: 'dotted';
  /** Loads the command with everything that it imports. */
  readonly load: () => Promise<Loaded>;
}

/** A definition of any arguments. citty has this type for commands within commands only. */
export type Loaded = Exclude<Awaited<SubCommandsDef[string]>, () => unknown>;

/** Groups of commands, whose names have two words. */
export const commandGroups: Readonly<Record<string, string>> = {
  monitor: 'Reward quality of runs and of saved responses',
  run: 'Directories of training runs',
  data: 'Datasets: files, folders and names of the hub',
};

/** All commands, in the order of help. Each is loaded when it is called. */
export const commandTable: Readonly<Record<string, CommandEntry>> = {
  init: {
    summary: 'Start a project: types, a reward with a test, data, a run file',
    examples: ['init my-model', 'init my-agent --template agent-with-tools'],
    load: async () => (await import('./init-command.ts')).initCommand,
  },
  train: {
    summary: 'Train and evaluate a model as a configuration file says',
    examples: [
      'train examples/arithmetic.yaml --out runs/arithmetic',
      'train --model models/qwen --data questions.jsonl --out runs/first',
      'train run.yaml --algorithm.loss.clipHigh=0.3 --new',
    ],
    flags: 'dotted',
    load: async () => (await import('./train-command.ts')).trainCommand,
  },
  eval: {
    summary: 'Evaluate a model on a benchmark, or on questions and answers',
    examples: [
      'eval models/qwen gsm8k.jsonl --limit 200 --out evaluation.json',
      'eval runs/first questions.jsonl --samples 8 --k 1,8 --json',
    ],
    load: async () => (await import('./eval-command.ts')).evalCommand,
  },
  generate: {
    summary: 'Complete prompts with a model, and stream the text',
    examples: [
      'generate models/stories "Once upon a time" --max-tokens 100 --seed 1',
      'generate runs/first --prompts prompts.txt --count 4 --json',
    ],
    load: async () => (await import('./generate-command.ts')).generateCommand,
  },
  chat: {
    summary: 'Talk to a model',
    examples: ['chat models/qwen --system "Answer in one sentence." --temperature 0.7'],
    load: async () => (await import('./chat-command.ts')).chatCommand,
  },
  serve: {
    summary: 'Serve a model to clients of OpenAI, Anthropic, vLLM and SGLang',
    examples: [
      'serve models/qwen --port 8000',
      'serve runs/first --any-name --adapter tuned=runs/lora/checkpoints/best',
    ],
    load: async () => (await import('./serve-command.ts')).serveCommand,
  },
  compare: {
    summary: 'Compare two runs, or two evaluations, task by task',
    examples: ['compare runs/first runs/second', 'compare before.json after.json --json'],
    load: async () => (await import('./compare-command.ts')).compareCommand,
  },
  export: {
    summary: 'Write a model for other programs: safetensors, PEFT, ONNX or GGUF',
    examples: [
      'export runs/first --to gguf --out exports/first --dtype Q8_0',
      'export runs/lora --to adapter --out exports/adapter',
      'export Qwen/Qwen3-0.6B --to onnx --out exports/qwen',
    ],
    load: async () => (await import('./export-command.ts')).exportCommand,
  },
  doctor: {
    summary: 'Check this machine, a model, rewards or a run before it starts',
    examples: [
      'doctor',
      'doctor run.yaml',
      'doctor models/qwen --data questions.jsonl --rows 16 --length 512',
    ],
    load: async () => (await import('./doctor-command.ts')).doctorCommand,
  },
  view: {
    summary: 'Make a page of recorded trajectories: conversations, tokens, groups',
    examples: ['view runs/agent/trajectories --out agent.html'],
    load: async () => (await import('./view-command.ts')).viewCommand,
  },
  dashboard: {
    summary: 'Watch runs side by side: curves, evaluations, responses, alerts',
    examples: ['dashboard runs', 'dashboard runs/first --port 8080', 'dashboard runs --out runs.html'],
    load: async () => (await import('./dashboard-command.ts')).dashboardCommand,
  },
  'monitor report': {
    summary: 'Make a report of a monitored run from its log files',
    examples: ['monitor report --metrics metrics.jsonl --alerts alerts.jsonl --out report.html'],
    load: async () => (await import('./monitor/report-command.ts')).reportCommand,
  },
  'monitor analyze': {
    summary: 'Look for reward hacking in saved responses',
    examples: ['monitor analyze log.jsonl --response completion --reward score --out page.html'],
    load: async () => (await import('./monitor/analyze-command.ts')).analyzeCommand,
  },
  'run list': {
    summary: 'List the runs in a directory: what they do, how far they are, how good',
    examples: ['run list runs', 'run list runs --json'],
    load: async () => (await import('./run-commands.ts')).listCommand,
  },
  'run resume': {
    summary: 'Continue a run where it was stopped',
    examples: ['run resume runs/first'],
    load: async () => (await import('./run-commands.ts')).resumeCommand,
  },
  'run schema': {
    summary: 'Print the JSON Schema of a run configuration, for editors',
    examples: ['run schema > run.schema.json'],
    load: async () => (await import('./run-commands.ts')).schemaCommand,
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
  completion: {
    summary: 'Print a script that completes rlp in bash, zsh or fish',
    examples: ['completion bash'],
    load: async () =>
      (await import('./completion-command.ts')).completionCommand({
        table: commandTable,
        groups: commandGroups,
      }),
  },
};
