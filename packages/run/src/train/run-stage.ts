import { join } from 'node:path';
import { RunStoppedError } from '@rlp/algorithms';
import { closeRun, loadRun, type RunPosition, saveRun } from '@rlp/algorithms/run';
import type { Metrics, MetricsLogger } from '@rlp/core';
import { plural } from '@rlp/core';
import { loadModel } from '@rlp/models';
import type { StageName } from '../config/modes.ts';
import { dropLater } from '../folder/open-folder.ts';
import { type OpenRun, say } from './open-run.ts';
import { openPolicy } from './policy.ts';
import { withoutWeights } from './prepare.ts';
import { recordGroups } from './record-groups.ts';
import { stageLog } from './run-log.ts';
import {
  isMeasuredAfter,
  measureBefore,
  measureDuring,
  measureEnd,
  measureMissed,
  type OpenStage,
  sampledByEvaluation,
  saveResult,
} from './stage-evaluations.ts';
import type { StageReport, StageState } from './stages/stage.ts';
import { stages } from './stages/stages.ts';

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
  const offset = prepared.stages
    .slice(0, prepared.stages.indexOf(name))
    .reduce((sum, before) => sum + (journal.record.stages[before]?.iterations ?? 0), 0);
  const open = { run, name, stage, plan, policy, offset, isLast };
  say(run, `${stage.label}: ${plural(plan.iterations, 'iteration')}.${memoryLine(open)}`);
  return open;
}

/** What training will take, for people. Empty if nobody can tell. */
function memoryLine(open: OpenStage): string {
  const { backend, inference } = open.policy;
  const { sequences, sampled = 0, ...loss } = open.plan.largest();
  const forecast = backend.forecastMemory(sequences, loss);
  if (forecast === undefined) return '';
  const length = sequences.reduce((most, { tokens }) => Math.max(most, tokens.length), 0);
  const evaluated = sampledByEvaluation(open) ?? { tokens: 0, sequences: 0 };
  const cache = Math.max(
    inference.cacheBytes(length, sampled),
    inference.cacheBytes(evaluated.tokens, evaluated.sequences),
  );
  const parts = [...Object.values(forecast.bytes), cache, inference.weightBytes];
  const bytes = parts.reduce((sum, part) => sum + part, 0);
  return `\nEstimated memory: ${Math.round(bytes / 2 ** 20)} MiB for steps of ${plural(sequences.length, 'sequence')} of up to ${plural(length, 'token')}.`;
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
  const { prepared, model, clock, signal, stream, files, engine, logger } = run;
  const { iterations } = plan;
  const resume = await resumed(open);
  const startedAt = resume?.iteration ?? 0;
  const log = stageLog({ files, stream, clock, logger, label: stage.label, iterations, offset, startedAt });
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

/** Measures the finished stage on all tasks and saves its model. */
async function finish(open: OpenStage, folder: string): Promise<void> {
  const { run, name, plan, policy } = open;
  await run.journal.requireFolder();
  await measureEnd(open);
  const weights = await policy.backend.getWeights();
  await saveResult(open, folder, weights);
  run.model = { ...run.model, weights };
  const done = { iterations: plan.iterations, isFinished: true };
  await run.journal.update({ stages: { ...run.journal.record.stages, [name]: done } });
}
