import { createOnnxBackend, type OnnxTrainingBackend, scheduleKinds, scheduleSchema } from '@rlp/backprop';
import { createOnnxSampler, defaultContext, InferenceModule } from '@rlp/inference';
import type { LanguageModel } from '@rlp/models';
import type { Engine } from '@rlp/onnx/runtime';
import type { RunBackendOptions } from '../config/backend-schema.ts';
import type { RunConfig } from '../config/run-schema.ts';

/** Two views of one set of weights in the engine: the backend trains it, the sampler generates with it. */
export interface Policy {
  readonly backend: OnnxTrainingBackend;
  readonly inference: InferenceModule;
  /** Gives the sampler the weights that the backend has now. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** How a stage learns. */
export interface PolicyOptions {
  readonly engine: Engine;
  readonly model: LanguageModel;
  readonly sampler: RunConfig['sampler'];
  /** Options of the run, then of the stage. */
  readonly backend: readonly (RunBackendOptions | undefined)[];
  /** Learning rate if none is given. */
  readonly learningRate: number;
  /** Optimizer steps of the stage, the default of schedules. */
  readonly updates: number;
}

/** Opens a policy for a stage. */
export async function openPolicy({
  engine,
  model,
  sampler,
  backend,
  updates,
  ...standard
}: PolicyOptions): Promise<Policy> {
  const {
    schedule,
    learningRate = standard.learningRate,
    ...options
  } = Object.assign({}, ...backend) as RunBackendOptions;
  const trained = await createOnnxBackend({
    ...{ engine, model, learningRate },
    ...options,
    ...(schedule && {
      schedule: scheduleSchema.parse({ ...needsUpdates(schedule.kind, updates), ...schedule }),
    }),
  });
  const sampled = createOnnxSampler({ maxSequences: 64, ...sampler, engine, model });
  const inference = await InferenceModule.create({ backend: sampled });
  return {
    backend: trained,
    inference,
    async refresh() {
      await inference.updateWeights(await trained.publish({ as: 'shared' }));
    },
    async close() {
      await inference.close();
      await trained.close();
    },
  };
}

/** Tokens of a prompt and its answer together that the sampler of a run holds. */
export function sampledContext(
  sampler: RunConfig['sampler'],
  { config }: Pick<LanguageModel, 'config'>,
): number {
  return Math.min(config.contextLength, sampler?.contextLength ?? defaultContext(config.contextLength));
}

/** The length of the run for schedules that have one. */
function needsUpdates(kind: string, updates: number): { readonly updates?: number } {
  const option = scheduleKinds.find(({ shape }) => shape.kind.value === kind);
  return option !== undefined && 'updates' in option.shape ? { updates } : {};
}
