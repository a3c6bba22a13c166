import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metrics, MetricsLogger, Weights } from '@rlp/core';
import { saveModel } from '@rlp/models';
import { metricRowsFromJsonl } from '@rlp/tracking';
import type { StageName } from '../config/modes.ts';
import { writeJson } from '../folder/write-json.ts';
import { evaluationRollout, type Measured, measure, scoreOf } from './measure.ts';
import { type OpenRun, say } from './open-run.ts';
import type { Policy } from './policy.ts';
import type { PreparedRun } from './prepare.ts';
import { saveRewardModel } from './reward-models.ts';
import { longestAnswers } from './stages/largest-update.ts';
import type { Stage, StagePlan } from './stages/stage.ts';
import { accuracyText } from './write-report.ts';

/** One stage of a run, with what it has opened. */
export interface OpenStage {
  readonly run: OpenRun;
  readonly name: StageName;
  readonly stage: Stage;
  readonly plan: StagePlan;
  readonly policy: Policy;
  /** Iterations of the stages before. */
  readonly offset: number;
  readonly isLast: boolean;
}

/** The policy before the first stage. */
export async function measureBefore(open: OpenStage): Promise<void> {
  const { run, offset } = open;
  if (offset > 0 || existsSync(join(run.files.evaluations, 'before.json'))) return;
  await open.policy.refresh();
  const before = await measured(open, { name: 'before', made: 0 });
  if (before) say(run, `Held-out accuracy before training: ${accuracyText(before.record)}`);
}

/** Whether an evaluation is due during the stage. */
export function isMeasuredAfter({ run, plan }: OpenStage, made: number): boolean {
  const { evaluation } = run.prepared.config;
  return evaluation !== 'none' && made % evaluation.every === 0 && made < plan.iterations;
}

/** Measures the first held-out tasks, and keeps the best model of the last stage. */
export async function measureDuring(open: OpenStage, made: number): Promise<Metrics> {
  const { run, policy, stage } = open;
  const { evaluation } = run.prepared.config;
  if (evaluation === 'none') return {};
  if (stage.kind !== 'rl') await policy.refresh();
  const result = await measured(open, { name: evaluationName(open, made), made, limit: evaluation.during });
  if (result === undefined) return {};
  await keepBest(open, result, made);
  const { accuracy, reward } = result.record;
  return {
    ...(accuracy !== undefined && { 'evaluation/accuracy': accuracy }),
    ...(reward !== undefined && { 'evaluation/reward': reward.value }),
  };
}

/** Makes the evaluation during which an earlier process was stopped. Its iteration is logged again, because its last row counts. */
export async function measureMissed(open: OpenStage, made: number, log: MetricsLogger): Promise<void> {
  const { evaluations, metrics } = open.run.files;
  const record = join(evaluations, `${evaluationName(open, made)}.json`);
  if (made === 0 || !isMeasuredAfter(open, made) || existsSync(record)) return;
  const measures = await measureDuring(open, made);
  const rows = metricRowsFromJsonl(await readFile(metrics, 'utf8'), metrics);
  const logged = rows.find(({ step }) => step === open.offset + made - 1)?.metrics;
  log.log(made - 1, { ...logged, ...measures });
}

/** Measures the finished stage on all tasks. */
export async function measureEnd(open: OpenStage): Promise<void> {
  const { run, name, stage, plan, isLast } = open;
  const result = await measured(open, { name: isLast ? 'final' : `after-${name}`, made: plan.iterations });
  if (result === undefined) return;
  await keepBest(open, result, plan.iterations);
  say(run, `Held-out accuracy after ${stage.label}: ${accuracyText(result.record)}`);
}

/** The longest responses of an evaluation, in tokens with their prompts, and how many there are. `undefined` if none is sampled. */
export function sampledByEvaluation({
  run: { prepared, model },
  stage,
}: Pick<OpenStage, 'run' | 'stage'>): { readonly tokens: number; readonly sequences: number } | undefined {
  const { evaluation } = prepared.config;
  const { heldOut: rows } = prepared.rows;
  if (evaluation === 'none' || rows.length === 0 || measuresPairs(prepared, stage)) return undefined;
  const rollout = { ...evaluationRollout(prepared, evaluation), groupSize: 1 };
  const [longest] = longestAnswers(prepared, model, { rows, tasks: 1, rollout }).sequences;
  return { tokens: longest!.tokens.length, sequences: rows.length * evaluation.samples };
}

/** Whether a stage measures its own result. */
function measuresPairs(prepared: PreparedRun, stage: Stage): boolean {
  return (
    stage.measure !== undefined &&
    prepared.config.evaluation !== 'none' &&
    (stage.measuresPairs?.(prepared) ?? true)
  );
}

const evaluationName = ({ name }: OpenStage, made: number) => `${name}-${String(made).padStart(8, '0')}`;

/** Responses of an evaluation that a logger gets. */
const loggedSamples = 16;

async function measured(
  { run, stage, offset, policy: { inference, backend } }: OpenStage,
  { name, made, limit }: { readonly name: string; readonly made: number; readonly limit?: number },
): Promise<Measured | undefined> {
  const { prepared, model, signal, files } = run;
  const folder = files.evaluations;
  if (stage.measure === undefined || !measuresPairs(prepared, stage)) {
    const result = await measure(prepared, { name, limit, inference, model, signal, folder });
    const shown = result?.answers.slice(0, loggedSamples).map(({ answer: _, ...sample }) => sample) ?? [];
    // They are of the weights after the iteration. W&B drops steps below 0, so those before the first one are of step 0 too.
    if (shown.length > 0) run.logger?.samples?.(Math.max(0, offset + made - 1), shown);
    return result;
  }
  const { policyVersion } = inference;
  const record = await stage.measure({ prepared, backend, model }, { name, policyVersion, limit });
  if (record === undefined) return undefined;
  await writeJson(join(folder, `${name}.json`), record);
  return { record, answers: [] };
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
export async function saveResult(
  { run, stage, policy }: OpenStage,
  folder: string,
  weights: Weights,
): Promise<void> {
  const model = { ...run.model, weights };
  if (stage.saves === undefined) return saveModel(folder, model);
  await saveRewardModel(folder, model, policy.backend);
}
