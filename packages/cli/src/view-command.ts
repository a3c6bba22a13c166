import { access, readdir, stat } from 'node:fs/promises';
import { devNull } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  ArgumentError,
  parseRecords,
  plural,
  type RecordedTrajectory,
  type TokenId,
  type Trajectory,
} from '@rlp/core';
import { readJsonLinesFile } from '@rlp/data/files';
import { writeTextFile } from '@rlp/data/store';
import { loadTokenizer, tokenTexts } from '@rlp/models';
import { RewardQualityDashboard } from '@rlp/quality-monitor/files';
import { trajectoryPage } from '@rlp/viewer';
import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';
import { isTraffic, readTraffic } from './read-traffic.ts';

/** `rlp view`. */
export const viewCommand = defineCommand({
  meta: { name: 'view', description: 'Make a page of recorded trajectories: conversations, tokens, groups' },
  args: {
    path: {
      type: 'positional',
      description: 'JSON Lines of trajectories or of recorded chats, or a directory with such files',
      required: true,
    },
    out: {
      type: 'string',
      alias: 'html',
      description: 'File of the page',
      default: 'trajectories.html',
      valueHint: 'FILE',
    },
    title: { type: 'string', description: 'Title of the page', valueHint: 'TEXT' },
    tokenizer: {
      type: 'string',
      description: 'Folder with tokenizer.json, to colour the tokens of records without their texts',
      valueHint: 'DIR',
    },
    alerts: { type: 'string', description: 'Alert log of a monitor', valueHint: 'FILE' },
    json: { type: 'boolean', description: 'Print the result as JSON' },
  },
  async run({ args, data }) {
    const { print, printError } = data as CliContext;
    const files = await filesOf(args.path);
    const read = { trajectories: 0 };
    const page = await trajectoryPage(recordsOf(files, read, printError), {
      title: args.title ?? `Trajectories of ${basename(resolve(args.path))}`,
      findings: await findingsOf(args.alerts),
      ...(args.tokenizer !== undefined && { tokenTexts: await textsBy(args.tokenizer) }),
    }).catch((error: unknown) => {
      if (read.trajectories > 0 || !(error instanceof ArgumentError)) throw error;
      throw new ArgumentError(
        `rlp view: ${args.path} contains no trajectories; expected records as a run records them`,
      );
    });
    await writeTextFile(args.out, page);
    const result = { out: args.out, ...read, files: files.length };
    const address = pathToFileURL(resolve(args.out)).href;
    print(
      args.json
        ? JSON.stringify(result)
        : `${plural(read.trajectories, 'trajectory', 'trajectories')}: ${address}`,
    );
  },
});

/** The file, or the files of JSON Lines in a directory and in its `trajectories`, by name. */
async function filesOf(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { withFileTypes: true });
  const hasOwn = entries.some((entry) => entry.isDirectory() && entry.name === 'trajectories');
  if (hasOwn) return filesOf(join(path, 'trajectories'));
  if (entries.some(({ name }) => name === 'run.json')) {
    throw new ArgumentError(
      `rlp view: the run ${path} recorded no trajectories; runs that practise record them, unless \`trajectories\` is 'none'`,
    );
  }
  const files = entries.filter((entry) => entry.isFile() && /\.jsonl$/i.test(entry.name));
  if (files.length > 0) return files.map(({ name }) => join(path, name)).sort();
  throw new ArgumentError(
    `rlp view: ${path} contains no files that end in .jsonl; give a run's folder or a file of trajectories`,
  );
}

async function* recordsOf(
  files: readonly string[],
  read: { trajectories: number },
  printError: CliContext['printError'],
): AsyncGenerator<RecordedTrajectory | Trajectory, void, undefined> {
  for (const file of files) {
    // A pipe can be read once.
    if ((await stat(file)).isFile() && (await isTraffic(file))) {
      const found = await readTraffic(file, { printError }, { otherParts: 'name' });
      printError(`${file} is recorded traffic, shown as ${found.length} conversations without tokens.`);
      read.trajectories += found.length;
      yield* found;
      continue;
    }
    for await (const { number, value } of readJsonLinesFile(file, { expected: 'one JSON object per line' })) {
      for (const record of parseRecords(value, `${file}, line ${number}`)) {
        read.trajectories += 1;
        yield record;
      }
    }
  }
}

async function findingsOf(alertLogFile: string | undefined) {
  if (alertLogFile === undefined) return [];
  await access(alertLogFile);
  // The log of metrics is not needed.
  const logs = new RewardQualityDashboard({ metricsLogFile: devNull, alertLogFile });
  return (await logs.readLogs()).findings;
}

async function textsBy(folder: string): Promise<(tokens: readonly TokenId[]) => readonly string[]> {
  const { tokenizer } = await loadTokenizer(folder);
  return (tokens) => tokenTexts(tokenizer, tokens);
}
