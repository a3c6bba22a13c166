import { existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename } from 'node:path';
import { ArgumentError, type Finding, FormatError, plural } from '@rlp/core';
import { writeTextFile } from '@rlp/data/store';
import {
  type AssessorOptions,
  formatFinding,
  type MonitoredBatch,
  RewardQualityAssessor,
  RewardQualityMonitor,
  rewardHackingDetector,
} from '@rlp/quality-monitor';
import {
  RewardQualityDashboard,
  rewardNameOf,
  type SavedResponse,
  streamSavedResponses,
} from '@rlp/quality-monitor/files';
import { type MetricsRecord, renderMonitorPage } from '@rlp/quality-monitor/page';
import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';
import { UsageError } from './usage-error.ts';

const dataOf = ({ data }: { readonly data?: unknown }) => data as CliContext;

/** `rlp monitor report`. */
export const reportCommand = defineCommand({
  meta: { name: 'report', description: 'Make an HTML report of a monitored run' },
  args: {
    metrics: { type: 'string', description: 'Metrics log, JSON Lines', required: true, valueHint: 'FILE' },
    alerts: { type: 'string', description: 'Alert log, JSON Lines', valueHint: 'FILE' },
    out: { type: 'string', description: 'File of the report', default: 'report.html', valueHint: 'FILE' },
    title: { type: 'string', description: 'Title of the report', valueHint: 'TEXT' },
    json: { type: 'boolean', description: 'Print the result as JSON' },
  },
  async run({ args, data }) {
    const { print, printError } = dataOf({ data });
    const dashboard = new RewardQualityDashboard({
      metricsLogFile: args.metrics,
      alertLogFile: args.alerts,
    });
    const { metrics, findings, unreadable } = await dashboard.readLogs();
    if (metrics.length === 0 && findings.length === 0) {
      await access(args.metrics);
      throw new ArgumentError(
        `rlp monitor report: ${args.metrics} contains no metrics; pass the metrics log of a monitor`,
      );
    }
    await dashboard.generateReport(args.out, args.title === undefined ? {} : { title: args.title });
    if (args.alerts !== undefined && !existsSync(args.alerts)) {
      printError(`rlp monitor report: no alerts found, because ${args.alerts} does not exist`);
    }
    const result = { out: args.out, batches: metrics.length, alerts: findings.length, unreadable };
    print(
      args.json
        ? JSON.stringify(result)
        : `${args.out}: ${plural(result.batches, 'batch', 'batches')}, ${plural(result.alerts, 'alert')}${unreadable > 0 ? `, ${plural(unreadable, 'unreadable line')} skipped` : ''}`,
    );
  },
});

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
    const { print, printError } = dataOf({ data });
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

/** What a person has to know of a file that was read once and not kept. */
interface Seen {
  responses: number;
  /** Responses with a reward above the mean of their batch. */
  rewarded: number;
  /** The first and the last place of each batch. */
  readonly places: (readonly [string, string])[];
  /** Rewards by name, and in how many responses each is a number, or something else. */
  readonly rewards: Map<string, { readable: number; faulty: number; firstFault?: string }>;
}

/** What a monitor logs about saved responses, batch by batch. Keeps one batch of them. */
async function analysed(
  responses: AsyncIterable<SavedResponse>,
  {
    assessor,
    batchSize,
    secondOpinion,
    onFailure,
  }: {
    readonly assessor: AssessorOptions;
    readonly batchSize: number;
    readonly secondOpinion: string | undefined;
    readonly onFailure: (message: string) => void;
  },
) {
  const seen: Seen = { responses: 0, rewarded: 0, places: [], rewards: new Map() };
  const records: MetricsRecord[] = [];
  const findings: Finding[] = [];
  const monitor = new RewardQualityMonitor({
    assessor: new RewardQualityAssessor(assessor),
    detectors: [rewardHackingDetector(secondOpinion === undefined ? {} : { secondOpinion })],
    config: { interventionSeverity: 'low', maxAlertsPerWindow: Number.MAX_SAFE_INTEGER },
    loggers: [
      {
        log: (step, metrics) => void records.push({ step, metrics }),
        finding: (_, finding) => void findings.push(finding),
        close: async () => undefined,
      },
    ],
    onFailure,
  });
  for await (const batch of batchesOf(responses, batchSize)) {
    remember(seen, batch);
    const monitored = batchOf(batch, secondOpinion);
    seen.rewarded += rewardedIn(monitored);
    monitor.monitorBatch(monitored);
  }
  return { seen, records, findings, summary: monitor.getMonitoringSummary() };
}

async function* batchesOf(responses: AsyncIterable<SavedResponse>, size: number) {
  let batch: SavedResponse[] = [];
  for await (const one of responses) {
    batch.push(one);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function remember(seen: Seen, batch: readonly SavedResponse[]): void {
  seen.responses += batch.length;
  seen.places.push([batch[0]!.place, batch.at(-1)!.place]);
  for (const { rewards, place } of batch) {
    for (const [name, value] of Object.entries(rewards)) {
      const known = seen.rewards.get(name) ?? { readable: 0, faulty: 0 };
      if (Number.isNaN(value)) {
        known.faulty += 1;
        known.firstFault ??= place;
      } else if (value !== null) known.readable += 1;
      seen.rewards.set(name, known);
    }
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

/** What a person should know about the rewards before reading the result. */
function problemsOf({ rewards, responses }: Seen): string[] {
  if (rewards.size === 0) {
    return [
      'it has no rewards, so only the responses are assessed; name the field of the reward with --reward',
    ];
  }
  return [...rewards].flatMap(([name, { readable, faulty, firstFault }]) => {
    if (readable === 0 && faulty === 0)
      return [
        `${name} is missing in ${responses === 1 ? 'the only response' : `all ${responses} responses`}`,
      ];
    if (faulty === 0) return [];
    return [
      `${name} is not a number in ${faulty} of ${plural(responses, 'response')}, first in ${firstFault}; they count as missing`,
    ];
  });
}

/** Responses of a batch whose reward is above its mean. */
function rewardedIn({ responses, rewards }: MonitoredBatch): number {
  const columns = rewards.total ? [rewards.total] : Object.values(rewards);
  const sums = responses.map((_, at) => columns.reduce((sum, values) => sum + (values[at] ?? Number.NaN), 0));
  const known = sums.filter((sum) => Number.isFinite(sum));
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  return known.filter((value) => value > mean).length;
}

/** Defaults of the detector: rewarded responses and batches of its reference, and batches between it and the one compared. */
const [referenceRewarded, referenceBatches, delayBatches] = [48, 4, 8];

/** That the detector of reward hacking compared nothing, if there are rewards. */
function comparedOf(records: readonly MetricsRecord[], seen: Seen): string[] {
  const { rewards, responses, rewarded } = seen;
  const compared = records.filter(
    ({ metrics }) => 'reward_quality/suspected_reward_hacking' in metrics,
  ).length;
  if (compared > 0 || rewards.size === 0) return [];
  const batches = plural(records.length, 'batch', 'batches');
  return [
    `reward hacking was not looked for: the first batch is compared after ${referenceBatches} batches or more with ${referenceRewarded} rewarded responses together and ${delayBatches} further ones, but got ${batches} with ${responses} responses in all, ${rewarded} of them rewarded above the mean of their batch; ${remedyOf(seen)}`,
  ];
}

/** The largest batches that are enough for a comparison, or how many responses are. */
function remedyOf({ responses, rewarded }: Seen): string {
  if (rewarded === 0) return 'give responses of one batch different rewards';
  const neededWith = (size: number) =>
    size *
    (Math.max(referenceBatches, Math.ceil((referenceRewarded * responses) / (rewarded * size))) +
      delayBatches +
      1);
  const size = [16, 12, 10, 8, 6, 4].find((one) => neededWith(one) <= responses);
  if (size !== undefined) return `pass --batch-size ${size}`;
  return `analyse about ${neededWith(4)} responses with --batch-size 4`;
}

function requireOpinion({ rewards }: Seen, name: string | undefined): void {
  if (name === undefined || rewards.has(name)) return;
  const known =
    rewards.size === 0 ? 'it has no rewards' : `its rewards are ${[...rewards.keys()].join(', ')}`;
  throw new UsageError(
    `rlp monitor analyze: expected --second-opinion to be a reward of the file, got ${name}; ${known}. Pass --reward too if they are fields of each record`,
  );
}

/** A second opinion beside rewards is not part of what is paid. */
function batchOf(saved: readonly SavedResponse[], secondOpinion: string | undefined): MonitoredBatch {
  const names = [...new Set(saved.flatMap(({ rewards }) => Object.keys(rewards)))];
  const hasPrompts = saved.every(({ prompt }) => prompt !== undefined);
  const paid = names.filter((name) => name !== secondOpinion);
  const finite = (value = Number.NaN) => (value !== null && Number.isFinite(value) ? value : null);
  const valuesOf = (name: string) => saved.map(({ rewards }) => finite(rewards[name] ?? undefined));
  const needsTotal = paid.length > 0 && paid.length < names.length && !names.includes('total');
  const total = saved.map(({ rewards }) => {
    const values = paid.map((name) => rewards[name] ?? Number.NaN);
    const sum = values.reduce((all, value) => all + value, 0);
    return Number.isFinite(sum) ? sum : null;
  });
  return {
    responses: saved.map(({ response }) => response),
    rewards: {
      ...Object.fromEntries(names.map((name) => [name, valuesOf(name)])),
      ...(needsTotal && { total }),
    },
    ...(hasPrompts && { prompts: saved.map(({ prompt }) => prompt ?? '') }),
  };
}

function wholeNumber(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new UsageError(`rlp: expected --${flag} to be a whole number above 0, got ${JSON.stringify(text)}`);
}
