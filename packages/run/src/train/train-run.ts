import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ArgumentError,
  abortSignal,
  callback,
  type Evaluation,
  evaluationSchema,
  having,
  isStoppedBy,
  type MetricsLogger,
  messageOf,
  parseOptions,
  plural,
} from '@rlp/core';
import { holdDirectory, releaseDirectory } from '@rlp/data/store';
import { createOnnxSampler, InferenceModule } from '@rlp/inference';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { type ConsoleStream, compositeLogger, metricRowsFromJsonl } from '@rlp/tracking';
import * as z from 'zod';
import { checkRun } from '../config/check-run.ts';
import type { RunMode, StageName } from '../config/modes.ts';
import type { RowMetadata, RunConfig } from '../config/run-schema.ts';
import {
  type OpenFolderOptions,
  openFolder,
  otherFolder,
  readFolder,
  savedSomething,
} from '../folder/open-folder.ts';
import { readIfThere } from '../folder/read-if-there.ts';
import { type RunFiles, runFiles } from '../folder/run-files.ts';
import { configAsData, hostFacts, type RunRecord } from '../folder/run-record.ts';
import { type RunSummary, summarize } from '../folder/summary.ts';
import { writeJson } from '../folder/write-json.ts';
import { packageVersion } from '../package-version.ts';
import { areRated } from './data/ratings.ts';
import { changeOfRows, digestRows } from './data/row-digest.ts';
import { type Answered, type Measured, measure } from './measure.ts';
import { Journal, type OpenRun, say } from './open-run.ts';
import { type PreparedRun, prepareRun } from './prepare.ts';
import { requireCorrections } from './require-corrections.ts';
import { unrewardedAnswers } from './rewarded-answers.ts';
import { runStage } from './run-stage.ts';
import { accuracyText, writeReport } from './write-report.ts';

/** What a run is given besides its configuration. */
export interface TrainRunOptions {
  /** Stops the run after the step under way, and saves it. The next call continues there. Default none. */
  readonly signal?: AbortSignal | undefined;
  /** `'resume'` continues an earlier run of the same configuration in the folder, `'new'` deletes it. Default `'resume'`. */
  readonly existing?: 'resume' | 'new' | undefined;
  /**
   * Receives what the folder receives, such as W&B, MLflow or TensorBoard: metrics, notes and findings of each iteration, and responses of
   * evaluations. `trainRun` does not close it. Default none.
   */
  readonly logger?: MetricsLogger | undefined;
  /** Receives progress. Default `process.stderr`. */
  readonly stream?: ConsoleStream | undefined;
  /** Milliseconds from any origin. Default `performance.now`. */
  readonly clock?: (() => number) | undefined;
  /** The date, for `run.json`. Default `new Date()`. */
  readonly date?: (() => Date) | undefined;
}

const optionsSchema = z.strictObject({
  signal: abortSignal.optional(),
  existing: z.enum(['resume', 'new']).optional(),
  logger: having<MetricsLogger>('log', 'a logger, such as a TensorBoardLogger').optional(),
  stream: having<ConsoleStream>('write', 'a stream, such as process.stderr').optional(),
  clock: callback<() => number>().optional(),
  date: callback<() => Date>().optional(),
} satisfies Record<keyof TrainRunOptions, z.ZodType>);

/** Result of {@link trainRun}. */
export interface RunResult {
  /** `'stopped'` if the signal ended the run before its last iteration. */
  readonly status: 'finished' | 'stopped';
  readonly mode: RunMode;
  /** Folder of the run. */
  readonly directory: string;
  readonly files: RunFiles;
  /** Evaluation of the last weights on all held-out tasks. Absent if the run was stopped or evaluates nothing. */
  readonly evaluation: Evaluation | undefined;
  /** Contents of `summary.json`. Absent if the run was stopped. */
  readonly summary: RunSummary | undefined;
  /** Folder of the model with the last weights. Absent if the run was stopped, or trained nothing. */
  readonly model: string | undefined;
  /** Seconds of all processes of an interrupted run. */
  readonly seconds: number;
}

/**
 * Trains and evaluates a model as a configuration says, in a folder with a contract; see `runFiles`.
 *
 * Everything is checked before anything is trained. If the folder holds a run of the same configuration, it is continued, also for more
 * iterations.
 *
 * @throws OptionsError naming every problem of the configuration, ArgumentError for a folder of another run, FormatError for
 *   data or a model that cannot be read; what the training loops throw.
 */
export async function trainRun<Metadata = RowMetadata, Outcome = unknown>(
  config: RunConfig<Metadata, Outcome>,
  options: TrainRunOptions = {},
): Promise<RunResult> {
  const resolved = checkRun(config, 'trainRun');
  parseOptions('trainRun', optionsSchema, options, 'TrainRunOptions');
  const { output } = resolved;
  if (output === undefined) {
    throw new ArgumentError(
      'trainRun: output is missing; name the folder of the run, as `output` or with --out DIR',
    );
  }
  const {
    signal = new AbortController().signal,
    stream = process.stderr,
    clock = () => performance.now(),
  } = options;
  const { date = () => new Date(), existing = 'resume' } = options;
  signal.throwIfAborted();
  const asData = configAsData(config);
  const folder: OpenFolderOptions = { directory: output, config: asData, existing };
  // To load a model takes long, so that a wrong folder is reported first.
  await readFolder(folder);
  const prepared = await prepareRun(config as RunConfig, resolved, signal);
  const files = runFiles(output);
  const earlier = await opened(folder, prepared).catch(async (error: unknown) => {
    await prepared.close();
    throw error;
  });
  try {
    const rows = digestRows(prepared.rows);
    const saved = await savedSomething(output);
    const change = changeOfRows(output, saved ? earlier?.rows : undefined, rows);
    if (!saved && earlier?.rows?.heldOutDigest !== rows.heldOutDigest)
      await rm(files.evaluations, { recursive: true, force: true });
    if (change !== undefined) say({ stream }, change);
    const record = { ...(earlier ?? newRecord(asData, prepared, date())), rows };
    const lease = await holdDirectory(output);
    const journal = new Journal(files.run, record, { clock, date, lease });
    const logger = options.logger && compositeLogger(options.logger);
    const run = { prepared, files, stream, clock, signal, journal, logger };
    const isFinished = earlier?.status === 'finished';
    if (isFinished) say(run, `${output} is finished. To train again, ${otherFolder}.`);
    const status = isFinished ? 'finished' : await runAll(run);
    return await resultOf(run, { status, directory: output });
  } finally {
    await prepared.close();
    await releaseDirectory(output);
  }
}

/** Takes the folder, once nothing is left that the stages would refuse. */
async function opened(folder: OpenFolderOptions, prepared: PreparedRun): Promise<RunRecord | undefined> {
  requireCorrections(prepared);
  return openFolder(folder);
}

function newRecord(
  config: Record<string, unknown>,
  { mode, config: { seed } }: PreparedRun,
  now: Date,
): RunRecord {
  const at = now.toISOString();
  return {
    ...{ record: 'run', version: 1, config, mode, status: 'running', startedAt: at, updatedAt: at },
    ...{ seconds: 0, stages: {}, seeds: { run: seed } },
    versions: { node: process.version, rlp: packageVersion() },
    host: hostFacts(),
  };
}

/** Runs what is left of a run. */
async function runAll(begun: Omit<OpenRun, 'engine' | 'model'>): Promise<RunResult['status']> {
  const { prepared, journal, signal } = begun;
  await journal.update({ status: 'running', problem: undefined });
  let engine: Engine | undefined;
  try {
    engine = await createEngine(prepared.config.engine);
    const run: OpenRun = { ...begun, engine, model: prepared.takeModel() };
    say(run, headline(run));
    const doubt = await unrewardedAnswers(prepared, signal);
    if (doubt !== undefined) say(run, doubt);
    for (const name of prepared.stages) {
      if (await runStage(run, name)) continue;
      await journal.update({ status: 'stopped' });
      return 'stopped';
    }
    if (prepared.stages.length === 0) await evaluateOnly(run);
    await journal.update();
    await conclude(run);
    await journal.update({ status: 'finished' });
    return 'finished';
  } catch (error) {
    const status = isStoppedBy(signal, error) ? 'stopped' : 'failed';
    await journal.update({ status, ...(status === 'failed' && { problem: messageOf(error) }) });
    if (status === 'failed') throw error;
    // Such as a call that was abandoned, whose iteration is lost.
    if (error !== signal.reason) say(begun, messageOf(error));
    return 'stopped';
  } finally {
    await engine?.close();
  }
}

function headline({ prepared, engine }: OpenRun): string {
  const { rows, mode, parameters } = prepared;
  const size = parameters < 1e5 ? `${parameters}` : `${(parameters / 1e6).toFixed(2)} million`;
  const has = (...names: readonly StageName[]) => names.some((name) => prepared.stages.includes(name));
  const [onPairs, onPolicy] = [has('preference', 'reward-model'), has('rl', 'distill')];
  const counts = [
    ...(has('sft') ? [`${plural(rows.imitated.length, 'row')} to imitate`] : []),
    ...(onPairs
      ? [`${rows.practised.length} ${areRated(rows.practised) ? 'answers with labels' : 'pairs'}`]
      : []),
    ...(onPolicy ? [`${rows.practised.length} to practise`] : []),
    mode === 'sft' && rows.heldOut.length === 0 && rows.imitated.some(({ isCorpus }) => isCorpus)
      ? 'none held out, because texts have no answer'
      : `${rows.heldOut.length} held out`,
    ...(rows.evaluatedAndLearned
      ? [`${rows.evaluatedAndLearned} of them are learned from too, so they measure memory`]
      : []),
    ...(rows.repeated ? [`${rows.repeated} left out because they repeat a held-out question`] : []),
  ];
  return `Mode ${mode}: a model of ${size} weights, ${counts.join(', ')}, ${plural(engine.threads, 'thread')}.`;
}

async function evaluateOnly(run: OpenRun): Promise<void> {
  const { prepared, engine, model, signal, files } = run;
  const backend = createOnnxSampler({ maxSequences: 64, ...prepared.given.sampler, engine, model });
  const inference = await InferenceModule.create({ backend });
  try {
    const folder = files.evaluations;
    const result = await measure(prepared, { name: 'final', inference, model, signal, folder });
    if (result) say(run, `Accuracy: ${accuracyText(result.record)}`);
  } finally {
    await inference.close();
  }
}

/** Writes the report and the summary. */
async function conclude({ files, prepared, journal }: OpenRun): Promise<void> {
  const { mode, config, stages, parameters } = prepared;
  const { record } = journal;
  const text = (await readIfThere(files.metrics)) ?? '';
  const rows = metricRowsFromJsonl(text, files.metrics);
  const measured = await measuredBy(files, stages);
  const { seconds } = record;
  await writeReport(files, { title: `Run ${config.output ?? ''}`, ...{ mode, seconds, measured, rows } });
  const evaluations = new Map([...measured].map(([name, found]) => [name, found.record]));
  const summary = summarize({
    ...{ seed: config.seed, parameters, seconds, evaluations, rows },
    stages: record.stages,
  });
  await writeJson(files.summary, summary);
}

/** Evaluations on all held-out tasks, in order: `before` training, and after each stage by its name. */
async function measuredBy(
  files: RunFiles,
  stages: readonly StageName[],
): Promise<ReadonlyMap<string, Measured>> {
  const last = stages.at(-1) ?? 'final';
  const names = [
    ['before', 'before'],
    ...stages.slice(0, -1).map((stage) => [stage, `after-${stage}`]),
    [last, 'final'],
  ] as const;
  const found = new Map<string, Measured>();
  for (const [name, file] of names) {
    const measured = await readMeasured(files, file!);
    if (measured !== undefined) found.set(name!, measured);
  }
  return found;
}

async function readMeasured(files: RunFiles, name: string): Promise<Measured | undefined> {
  const read = (ending: string) => readIfThere(join(files.evaluations, `${name}.${ending}`));
  const [record, lines] = [await read('json'), await read('jsonl')];
  if (record === undefined) return undefined;
  const answers = (lines ?? '').split('\n').filter(Boolean);
  return {
    record: parseOptions(name, evaluationSchema, JSON.parse(record)),
    answers: answers.map((line) => JSON.parse(line) as Answered),
  };
}

async function resultOf(
  { files, prepared, journal }: Pick<OpenRun, 'files' | 'prepared' | 'journal'>,
  { status, directory }: Pick<RunResult, 'status' | 'directory'>,
): Promise<RunResult> {
  const isDone = status === 'finished';
  const { mode, stages } = prepared;
  return {
    ...{ status, mode, directory, files },
    evaluation: isDone ? (await readMeasured(files, 'final'))?.record : undefined,
    summary: isDone ? (JSON.parse(await readFile(files.summary, 'utf8')) as RunSummary) : undefined,
    model: isDone && stages.length > 0 ? join(files.checkpoints, 'last') : undefined,
    seconds: journal.record.seconds,
  };
}
