import { basename } from 'node:path';
import { ArgumentError, type Finding, FormatError, plural } from '@rlp/core';
import { writeTextFile } from '@rlp/data/store';
import { type AssessorOptions, formatFinding } from '@rlp/quality-monitor';
import { rewardNameOf, streamSavedResponses } from '@rlp/quality-monitor/files';
import { renderMonitorPage } from '@rlp/quality-monitor/page';
import { defineCommand } from 'citty';
import type { CliContext } from '../context.ts';
import { UsageError } from '../usage-error.ts';
import { analysed } from './analysed.ts';
import { comparedOf, problemsOf, requireOpinion } from './remarks.ts';

/** `rlp monitor analyze`. */
export const analyzeCommand = defineCommand({
  meta: { name: 'analyze', description: 'Assess saved responses' },
  args: {
    file: {
      type: 'positional',
      description:
        'JSON Lines, CSV or Parquet: {"response": "…", "rewards": {"accuracy": 1}, "prompt": "…"}, or messages, or trajectories',
      required: true,
    },
    response: {
      type: 'string',
      description: 'Field of the response, such as completions.*.text',
      valueHint: 'FIELD',
    },
    reward: { type: 'string', description: 'Field of the reward, or of several: a,b', valueHint: 'FIELD' },
    prompt: { type: 'string', description: 'Field of the prompt', valueHint: 'FIELD' },
    'second-opinion': {
      type: 'string',
      description: 'Reward component or field that tells a hack from a style',
      valueHint: 'NAME',
    },
    out: { type: 'string', alias: 'html', description: 'File of a report to write', valueHint: 'FILE' },
    'batch-size': {
      type: 'string',
      description: 'Responses per batch. Reward hacking is looked for from the 13th batch on',
      default: '64',
      valueHint: 'N',
    },
    'min-samples': {
      type: 'string',
      description: 'Responses before the first alert',
      default: '1',
      valueHint: 'N',
    },
    tags: {
      type: 'string',
      description: 'Tags of reasoning and answer; "none" for plain text',
      default: 'none',
      valueHint: 'A,B',
    },
    'skip-malformed': {
      type: 'boolean',
      description: 'Leave out lines that are not records, and count them',
    },
    json: { type: 'boolean', description: 'Print the result as JSON' },
  },
  async run({ args, data }) {
    const { print, printError } = data as CliContext;
    const batchSize = wholeNumber('batch-size', args['batch-size']);
    const minSamplesForAnalysis = wholeNumber('min-samples', args['min-samples']);
    const tags = tagsOf(args.tags);
    const { file, response, reward, prompt, out, 'second-opinion': opinionField } = args;
    const paid = reward?.split(',');
    const secondOpinion = opinionField && paid ? rewardNameOf(opinionField, paid) : opinionField;
    const malformed: FormatError[] = [];
    const onMalformed = (error: FormatError) => leaveOut(error, malformed, args['skip-malformed'] === true);
    const { seen, records, findings, summary } = await analysed(
      streamSavedResponses(file, {
        response,
        prompt,
        onMalformed,
        rewards: paid && [...new Set([...paid, opinionField ?? []].flat())],
      }),
      {
        assessor: { minSamplesForAnalysis, tags },
        batchSize,
        secondOpinion,
        onFailure: printError,
      },
    );
    if (seen.responses === 0) {
      throw new ArgumentError(
        `rlp monitor analyze: ${file} contains no responses; expected JSON Lines, a JSON list, CSV or Parquet`,
      );
    }
    requireOpinion(seen, secondOpinion);
    const problems = [...leftOut(malformed), ...problemsOf(seen), ...comparedOf(records, seen)];
    for (const problem of problems) printError(`rlp monitor analyze: ${file}: ${problem}`);
    const placeOf = (batch: number) => {
      const last = Math.min(seen.responses, (batch + 1) * batchSize);
      return `responses ${batch * batchSize + 1}–${last} (${seen.places[batch]!.join(' to ')})`;
    };
    if (out !== undefined) {
      const title = `Saved responses of ${basename(file)}`;
      const notes = problems.map((note) => ({ step: records.at(-1)!.step, note }));
      await writeTextFile(
        out,
        renderMonitorPage({ metrics: records, findings, notes, unreadable: 0 }, { title }),
      );
    }
    const unread =
      [...seen.rewards.values()].every(({ readable }) => readable === 0) && seen.rewards.size > 0;
    const result = unread ? 'failed' : 'sound';
    if (args.json) {
      const placed = findings.map((finding) => ({ ...finding, where: placeOf(finding.iteration) }));
      print(JSON.stringify({ ...summary, findings: placed, malformed: malformed.length }));
      return result;
    }
    printEpisodes(findings, placeOf, print);
    if (out !== undefined) print(`${out}: the report`);
    print(JSON.stringify(summary, undefined, 2));
    return result;
  },
});

/** Keeps the error of a line that is left out. @throws FormatError if none may be. */
function leaveOut(error: FormatError, malformed: FormatError[], skips: boolean): void {
  if (skips) malformed.push(error);
  else
    throw new FormatError(`${error.message}, or leave such lines out with --skip-malformed`, {
      cause: error,
    });
}

function leftOut([first, ...others]: readonly FormatError[]): string[] {
  return first === undefined
    ? []
    : [`${plural(1 + others.length, 'line')} left out, the first is ${first.message}`];
}

function printEpisodes(
  findings: readonly Finding[],
  placeOf: (batch: number) => string,
  print: (line: string) => void,
): void {
  for (const { rule, batches, first } of episodesOf(findings)) {
    const lasting = batches > 1 ? ` (in ${batches} batches, first here)` : '';
    print(`${placeOf(first.iteration)}: ${formatFinding(first)}${lasting}`);
    const { mitigation = [] } = first.note ?? {};
    if (mitigation.length > 0) print(`  What to do about ${rule}: ${mitigation.join('; ')}`);
  }
}

/** Findings of one rule, severity and component in successive batches count as one. */
function episodesOf(findings: readonly Finding[]) {
  const episodes: { rule: string; key: string; batches: number; first: Finding; last: number }[] = [];
  for (const finding of findings) {
    const { rule, severity, component = '', iteration } = finding;
    const key = `${rule} ${severity} ${component}`;
    const before = episodes.findLast((one) => one.key === key);
    if (before !== undefined && iteration <= before.last + 1) {
      before.batches += 1;
      before.last = iteration;
    } else episodes.push({ rule, key, batches: 1, first: finding, last: iteration });
  }
  return episodes;
}

function tagsOf(text: string): AssessorOptions['tags'] {
  const [reasoning, answer, ...more] = text.split(',');
  if (text === 'none') return 'none';
  if (reasoning && answer && more.length === 0) return { reasoning, answer };
  throw new UsageError(
    `rlp: expected --tags to be two names, such as reasoning,answer, or none, got ${JSON.stringify(text)}`,
  );
}

function wholeNumber(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new UsageError(`rlp: expected --${flag} to be a whole number above 0, got ${JSON.stringify(text)}`);
}
