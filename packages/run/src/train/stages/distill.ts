import { REINFORCEAlgorithm, type RlState } from '@rlp/algorithms';
import { distillationOptions, withTeacher } from '@rlp/algorithms/distillation';
import type { State, TokenScorer } from '@rlp/core';
import { createOnnxSampler, InferenceModule } from '@rlp/inference';
import { loadModel } from '@rlp/models';
import type { Engine } from '@rlp/onnx/runtime';
import { rewardFunctions } from '@rlp/rewards';
import type { Teacher } from '../../config/distill-schema.ts';
import type { AnswerMetadata } from '../../config/stock-rewards.ts';
import { savedModel } from '../../folder/run-files.ts';
import { tasksOf } from '../environment.ts';
import type { PreparedRun } from '../prepare.ts';
import { longestAnswers } from './largest-update.ts';
import type { Stage, StageContext } from './stage.ts';

/** A teacher that is ready, and what ends it. */
interface OpenTeacher {
  readonly scorer: TokenScorer;
  readonly close: () => Promise<void>;
}

async function openTeacher(teacher: Teacher, engine: Engine, signal: AbortSignal): Promise<OpenTeacher> {
  if (typeof teacher === 'string') {
    const loaded = await loadModel(savedModel(teacher) ?? teacher, { signal });
    const sampler = await createOnnxSampler({ engine, model: loaded, store: 'teacher', maxSequences: 1 });
    return { scorer: sampler, close: () => sampler.close() };
  }
  if ('scoreTokens' in teacher) return { scorer: teacher, close: async () => undefined };
  const { server: backend, url, model: folder } = teacher;
  const inference = await InferenceModule.create({ backend, url, model: folder });
  return { scorer: inference, close: () => inference.close() };
}

function optionsOf({ given, config }: PreparedRun) {
  const { seed, distill } = config;
  const { coefficient, tasksPerIteration } = distill!;
  const rollout = { groupSize: 1, seed, ...given.distill?.rollout };
  return { ...distillationOptions({ coefficient }), seed, tasksPerIteration, rollout };
}

async function* distilled(context: StageContext, iterations: number) {
  const { prepared, policy, model, engine, clock, signal, resume, onInterrupted } = context;
  const { environment, rows, config } = prepared;
  const teacher = await openTeacher(config.distill!.teacher, engine, signal);
  try {
    const algorithm = new REINFORCEAlgorithm<State, AnswerMetadata>(
      {
        ...{ environment, clock },
        rewards: rewardFunctions({ none: () => 0 }),
        backend: withTeacher(policy.backend, teacher.scorer),
        tasks: tasksOf(rows.practised, config.seed),
        sampler: policy.inference,
        tokenizer: model.tokenizer,
        chat: model.chat,
      },
      optionsOf(prepared),
    );
    const state = resume as RlState | undefined;
    yield* algorithm.run({ iterations, signal, onInterrupted, resume: state });
  } finally {
    await teacher.close();
  }
}

/** Learns from the probabilities that a teacher gives to the policy's text. */
export const distillStage: Stage = {
  label: 'Distillation',
  kind: 'rl',
  learningRate: 1e-6,
  backend: ({ given }) => ({ reference: 'none', ...given.distill?.backend }),
  plan(prepared, model) {
    const { iterations, tasksPerIteration: tasks } = prepared.config.distill!;
    const { rollout } = optionsOf(prepared);
    const largest = () => longestAnswers(prepared, model, { tasks, rollout });
    return { iterations, updates: iterations, notes: [], largest, data: undefined };
  },
  reports: (context, { iterations }) => distilled(context, iterations),
};
