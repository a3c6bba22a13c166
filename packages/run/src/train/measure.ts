import { join } from 'node:path';
import { type Evaluation, promptText, type ScoredTrajectory } from '@rlp/core';
import { writeTextFile } from '@rlp/data/store';
import type { InferenceModule } from '@rlp/inference';
import type { LanguageModel } from '@rlp/models';
import type { RolloutOptions } from '@rlp/rollout';
import type * as z from 'zod';
import type { evaluationSchema } from '../config/run-schema.ts';
import type { AnswerMetadata } from '../config/stock-rewards.ts';
import { type EvaluateCollectedOptions, evaluate } from '../evaluate/evaluate.ts';
import { meanOf } from '../evaluate/intervals.ts';
import { writeJson } from '../folder/write-json.ts';
import type { PreparedRun } from './prepare.ts';
import { collectAgent } from './run-agent.ts';

/** One response to a held-out task, as a line of `evaluations/NAME.jsonl`. */
export interface Answered {
  readonly task: string;
  readonly prompt: string;
  /** Right answer, if the task has one. */
  readonly answer?: string | undefined;
  readonly response: string;
  readonly reward: number | null;
  readonly components: Readonly<Record<string, number | null>>;
}

/** A record with the responses behind it. */
export interface Measured {
  readonly record: Evaluation;
  readonly answers: readonly Answered[];
}

/** What is measured, and how. */
export interface MeasureOptions {
  /** Begins the names of the files. */
  readonly name: string;
  /** Tasks that count, from the first. Default all. */
  readonly limit?: number | undefined;
  readonly inference: InferenceModule;
  readonly model: LanguageModel;
  readonly signal: AbortSignal;
  /** Folder of evaluations. */
  readonly folder: string;
}

/** Evaluates the policy on held-out tasks and writes the record and the responses. `undefined` if the run evaluates nothing. */
export async function measure(
  prepared: PreparedRun,
  { name, limit, inference, model, signal, folder }: MeasureOptions,
): Promise<Measured | undefined> {
  const { config, rows, rewards, component } = prepared;
  const { evaluation } = config;
  const tasks = rows.heldOut.slice(0, limit);
  if (evaluation === 'none' || tasks.length === 0) return undefined;
  const answers = new Map<string, readonly Answered[]>();
  const record = await evaluated(prepared, evaluation, {
    ...{ inference, model },
    scoring: {
      ...{ tasks, rewards, signal, name, metric: component },
      correctFrom: evaluation.correctFrom ?? (component === 'gameScore' ? 1 : undefined),
      onScored: (group) => void answers.set(group[0]?.trajectory.task.id ?? '', group.map(answered)),
    },
  });
  const ordered = tasks.flatMap(({ id }) => answers.get(id) ?? []);
  await writeTextFile(
    join(folder, `${name}.jsonl`),
    ordered.map((answer) => `${JSON.stringify(answer)}\n`).join(''),
  );
  await writeJson(join(folder, `${name}.json`), record);
  return { record, answers: ordered };
}

type Scoring = Omit<EvaluateCollectedOptions<AnswerMetadata>, 'rollouts'>;

/** Runs the agent, or the environment, as training does. */
async function evaluated(
  { config, given, agent, environment }: PreparedRun,
  evaluation: z.output<typeof evaluationSchema>,
  { inference, model, scoring }: Pick<MeasureOptions, 'inference' | 'model'> & { readonly scoring: Scoring },
): Promise<Evaluation> {
  const { samples } = evaluation;
  const rollout = evaluationRollout({ config, given }, evaluation);
  if (agent === undefined) {
    const policy = { sampler: inference, tokenizer: model.tokenizer, chat: model.chat };
    return evaluate({ ...scoring, ...rollout, policy, environment, samples, concurrency: 256 });
  }
  await using rollouts = collectAgent(agent, { inference, model }, { ...rollout, groupSize: samples });
  return await evaluate({ ...scoring, rollouts });
}

/** How responses are sampled that are measured. */
export function evaluationRollout(
  { config: { seed }, given }: Pick<PreparedRun, 'config' | 'given'>,
  { temperature, maxTokens }: z.output<typeof evaluationSchema>,
): RolloutOptions {
  const trained: RolloutOptions = given.algorithm?.rollout ?? given.distill?.rollout ?? {};
  const { maxTurns, contextLength, history, sampling = {} } = trained;
  const { stopStrings, stopTokens } = sampling;
  return {
    ...{ seed, maxTurns, contextLength, history },
    sampling: { maxTokens: maxTokens ?? sampling.maxTokens, stopStrings, stopTokens, temperature },
  };
}

function answered({ trajectory, reward, components }: ScoredTrajectory): Answered {
  const { task, response } = trajectory;
  const { answer } = (task.metadata ?? {}) as { readonly answer?: unknown };
  return {
    task: task.id,
    prompt: promptText(task.prompt),
    ...(typeof answer === 'string' && { answer }),
    ...{ response, reward, components },
  };
}

/** Accuracy of the first tasks of a record, or else their mean reward. `undefined` if nothing was scored. */
export function scoreOf({ tasks, accuracy }: Evaluation, limit: number): number | undefined {
  const scores = tasks.slice(0, limit).flatMap(({ correct, rewards }) => {
    const known =
      accuracy === undefined
        ? rewards
        : (correct ?? []).map((right) => (right === null ? null : Number(right)));
    return known.filter((score) => score !== null);
  });
  return scores.length === 0 ? undefined : meanOf(scores);
}
