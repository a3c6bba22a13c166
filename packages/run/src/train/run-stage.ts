import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunStoppedError } from '@rlp/algorithms';
import { closeRun, loadRun, type RunPosition, saveRun } from '@rlp/algorithms/run';
import type { Metrics, MetricsLogger, Weights } from '@rlp/core';
import { loadModel, saveModel } from '@rlp/models';
import { metricRowsFromJsonl } from '@rlp/tracking';
import type { StageName } from '../config/modes.ts';
import { dropLater } from '../folder/open-folder.ts';
import { writeJson } from '../folder/write-json.ts';
import { type Measured, measure, scoreOf } from './measure.ts';
import { type OpenRun, say } from './open-run.ts';
import { openPolicy, type Policy } from './policy.ts';
import { withoutWeights } from './prepare.ts';
import { recordGroups } from './record-groups.ts';
import { saveRewardModel } from './reward-models.ts';
import { stageLog } from './run-log.ts';
import type { Stage, StagePlan, StageReport, StageState } from './stages/stage.ts';
import { stages } from './stages/stages.ts';
import { accuracyText } from './write-report.ts';

/** One stage of a run, with what it has opened. */
interface OpenStage {
  readonly run: OpenRun;
  readonly name: StageName;
  readonly stage: Stage;
  readonly plan: StagePlan;
  readonly policy: Policy;
  /** Iterations of the stages before. */
  readonly offset: number;
  readonly isLast: boolean;
}

/** Folder of a stage's checkpoints. */
const checkpointsOf = ({ files }: OpenRun, name: StageName) => join(files.checkpoints, name);

/** Runs a stage to its end, or to the signal. @returns Whether it was finished. */
export async function runStage(run: OpenRun, name: StageName): Promise<boolean> {
  const { prepared, journal } = run;
  const isLast = prepared.stages.at(-1) === name;
  const after = join(run.files.checkpoints, isLast ? 'last' : `after-${name}`);
  if (journal.record.stages[name]?.isFinished) {
    run.model = await loadModel(after);
    return true;
  }
  const open = await openStage(run, name, isLast);
  const { iterations } = open.plan;
  try {
    await journal.update({
      stages: { ...journal.record.stages, [name]: { iterations, isFinished: false } },
    });
    if (!(await trained(open))) return false;
    await open.policy.refresh();
    await finish(open, after);
    return true;
  } finally {
    await open.policy.close();
    await closeRun(checkpointsOf(run, name));
  }
}

/** Gives the model's weights to the engine. The run keeps no copy of them. */
async function openStage(run: OpenRun, name: StageName, isLast: boolean): Promise<OpenStage> {
  const { prepared, engine, journal, model } = run;
  const stage = stages[name];
  const plan = stage.plan(prepared, model);
  // As they were given: defaults must not replace what the run or a stage says.
  const { sampler, backend } = prepared.given;
  const { learningRate } = stage;
  const policy = await openPolicy({
    ...{ engine, model, sampler, learningRate },
    backend: [backend, stage.backend(prepared)],
    updates: plan.updates,
  });
  run.model = withoutWeights(model);
  say(run, `${stage.label}: ${plan.iterations} iterations.${memoryLine(policy, plan)}`);
  const offset = prepared.stages
    .slice(0, prepared.stages.indexOf(name))
    .reduce((sum, before) => sum + (journal.record.stages[before]?.iterations ?? 0), 0);
  return { run, name, stage, plan, policy, offset, isLast };
}

/** What training will take, for people. Empty if nobody can tell. */
function memoryLine({ backend }: Policy, { batch: { rows, length } }: StagePlan): string {
  const forecast = backend.forecastMemory({ sequences: rows, tokens: length });
  if (forecast === undefined) return '';
  const bytes = Object.values(forecast.bytes).reduce((sum, part) => sum + part, 0);
  return `\nEstimated memory: ${Math.round(bytes / 2 ** 20)} MiB for steps of ${rows} sequences of ${length} tokens.`;
}

/** Loads where an earlier process stopped. `undefined` if the stage begins. */
async function resumed(open: OpenStage): Promise<StageState | undefined> {
  const { run, name, stage, policy, offset } = open;
  const folder = checkpointsOf(run, name);
  const resume = (await loadRun(folder, policy.backend, stage.kind)) as StageState | undefined;
  if (resume === undefined) {
    await measureBefore(open);
    return undefined;
  }
  say(run, `${stage.label} continues after iteration ${resume.iteration}.`);
  await policy.refresh();
  await dropLater(run.files.trajectories, offset + resume.iteration);
  return resume;
}

/** Makes the iterations that are left. @returns Whether all are made. */
async function trained(open: OpenStage): Promise<boolean> {
  const { run, stage, plan, policy, offset } = open;
  const { prepared, model, clock, signal, stream, files, engine } = run;
  const { iterations } = plan;
  const resume = await resumed(open);
  const startedAt = resume?.iteration ?? 0;
  const log = stageLog({ files, stream, clock, label: stage.label, iterations, offset, startedAt });
  let reached = resume;
  // Whether the weights are those of `reached`, which is so until the loop is asked for its next iteration.
  let isHeld = false;
  const onInterrupted = (state: StageState) => {
    reached = state;
  };
  try {
    for (const note of plan.notes) log.note?.(startedAt, note);
    await measureMissed(open, startedAt, log);
    const context = { prepared, policy, model, resume, engine, clock, signal, onInterrupted };
    for await (const report of stage.reports(context, plan)) {
      // If the folder was moved, nothing may be saved or logged at its old place.
      await run.journal.requireFolder();
      reached = report.state;
      isHeld = true;
      await followed(open, report, log);
      isHeld = false;
    }
    if (reached !== undefined && reached !== resume) await save(open, reached);
  } catch (error) {
    const kept = isHeld ? reached : stoppedAt(error);
    // The first error says more than one of saving, unless it is only the signal's.
    if (kept !== undefined && kept.iteration > startedAt)
      await save(open, kept).catch((unsaved: unknown) => {
        if (signal.aborted) throw unsaved;
      });
    throw error;
  } finally {
    await log.close();
  }
  return (reached?.iteration ?? 0) >= iterations;
}

/** Where a run stood that stopped by itself, if it is worth continuing there. */
function stoppedAt(error: unknown): StageState | undefined {
  if (!(error instanceof RunStoppedError)) return undefined;
  return ['sampler-gap', 'rewards-equal'].includes(error.reason) ? undefined : error.state;
}

/** Logs one iteration, and measures, records and saves if that is due. */
async function followed(open: OpenStage, report: StageReport, log: MetricsLogger): Promise<void> {
  const { run, offset, plan } = open;
  const { config, model } = run.prepared;
  const { iteration, metrics, notes = [], findings = [], groups = [], state } = report;
  const made = iteration + 1;
  const { checkpoints, trajectories } = config;
  const isEnd = made >= plan.iterations;
  for (const note of notes) log.note?.(iteration, note);
  for (const finding of findings) log.finding?.(iteration, finding);
  let measures: Metrics = {};
  try {
    if (isMeasuredAfter(open, made)) measures = await measureDuring(open, made);
  } finally {
    log.log(iteration, { ...metrics, ...measures });
  }
  const isRecorded = trajectories !== 'none' && (made % trajectories.every === 0 || made === 1 || isEnd);
  if (isRecorded && groups.length > 0) {
    await recordGroups(
      run.files.trajectories,
      offset + iteration,
      groups.slice(0, trajectories.groups),
      model.tokenizer,
    );
  }
  if (made % checkpoints.every === 0 && !isEnd) await save(open, state);
}

async function save({ run, name, stage, policy }: OpenStage, state: StageState): Promise<void> {
  await run.journal.requireFolder();
  const position = { kind: stage.kind, state } as RunPosition;
  const { keep } = run.prepared.config.checkpoints;
  await saveRun(checkpointsOf(run, name), policy.backend, position, { keep });
}

async function measured(
  { run, stage, policy: { inference, backend } }: OpenStage,
  name: string,
  limit?: number,
): Promise<Measured | undefined> {
  const { prepared, model, signal, files } = run;
  const folder = files.evaluations;
  const measures = prepared.config.evaluation !== 'none' && (stage.measuresPairs?.(prepared) ?? true);
  if (stage.measure === undefined || !measures) {
    return measure(prepared, { name, limit, inference, model, signal, folder });
  }
  const record = await stage.measure({ prepared, backend, model }, { name, limit });
  if (record === undefined) return undefined;
  await writeJson(join(folder, `${name}.json`), record);
  return { record, answers: [] };
}

/** The policy before the first stage. */
async function measureBefore(open: OpenStage): Promise<void> {
  const { run, offset } = open;
  if (offset > 0 || existsSync(join(run.files.evaluations, 'before.json'))) return;
  await open.policy.refresh();
  const before = await measured(open, 'before');
  if (before) say(run, `Held-out accuracy before training: ${accuracyText(before.record)}`);
}

/** Whether an evaluation is due during the stage. */
function isMeasuredAfter({ run, plan }: OpenStage, made: number): boolean {
  const { evaluation } = run.prepared.config;
  return evaluation !== 'none' && made % evaluation.every === 0 && made < plan.iterations;
}

/** Makes the evaluation during which an earlier process was stopped. Its iteration is logged again, because its last row counts. */
async function measureMissed(open: OpenStage, made: number, log: MetricsLogger): Promise<void> {
  const { evaluations, metrics } = open.run.files;
  const record = join(evaluations, `${evaluationName(open, made)}.json`);
  if (made === 0 || !isMeasuredAfter(open, made) || existsSync(record)) return;
  const measures = await measureDuring(open, made);
  const rows = metricRowsFromJsonl(await readFile(metrics, 'utf8'), metrics);
  const logged = rows.find(({ step }) => step === open.offset + made - 1)?.metrics;
  log.log(made - 1, { ...logged, ...measures });
}

const evaluationName = ({ name }: OpenStage, made: number) => `${name}-${String(made).padStart(8, '0')}`;

/** Measures the first held-out tasks, and keeps the best model of the last stage. */
async function measureDuring(open: OpenStage, made: number): Promise<Metrics> {
  const { run, policy, stage } = open;
  const { evaluation } = run.prepared.config;
  if (evaluation === 'none') return {};
  if (stage.kind !== 'rl') await policy.refresh();
  const result = await measured(open, evaluationName(open, made), evaluation.during);
  if (result === undefined) return {};
  await keepBest(open, result, made);
  const { accuracy, reward } = result.record;
  return {
    ...(accuracy !== undefined && { 'evaluation/accuracy': accuracy }),
    ...(reward !== undefined && { 'evaluation/reward': reward.value }),
  };
}

/** Saves the model if no earlier evaluation of the last stage was as good, on the tasks that all of them have. */
async function keepBest(open: OpenStage, { record }: Measured, iteration: number): Promise<void> {
  const { run, policy, isLast } = open;
  const { evaluation } = run.prepared.config;
  if (!isLast || evaluation === 'none') return;
  const score = scoreOf(record, evaluation.during);
  const { best } = run.journal.record;
  if (score === undefined || (best !== undefined && best.score >= score)) return;
  await saveResult(open, join(run.files.checkpoints, 'best'), await policy.backend.getWeights());
  const tasks = Math.min(evaluation.during, record.tasks.length);
  await run.journal.update({ best: { iteration, score, tasks } });
}

/** Saves a model, with its value head if that is what was trained. */
async function saveResult(
  { run, stage, policy }: OpenStage,
  folder: string,
  weights: Weights,
): Promise<void> {
  const model = { ...run.model, weights };
  if (stage.saves === undefined) return saveModel(folder, model);
  await saveRewardModel(folder, model, policy.backend);
}

/** Measures the finished stage on all tasks and saves its model. */
async function finish(open: OpenStage, folder: string): Promise<void> {
  const { run, name, plan, policy, isLast, stage } = open;
  await run.journal.requireFolder();
  const result = await measured(open, isLast ? 'final' : `after-${name}`);
  if (result) {
    await keepBest(open, result, plan.iterations);
    say(run, `Held-out accuracy after ${stage.label}: ${accuracyText(result.record)}`);
  }
  const weights = await policy.backend.getWeights();
  await saveResult(open, folder, weights);
  run.model = { ...run.model, weights };
  const done = { iterations: plan.iterations, isFinished: true };
  await run.journal.update({ stages: { ...run.journal.record.stages, [name]: done } });
}
