import * as z from 'zod';
import { ArgumentError, RewardError } from './errors.ts';
import { openRecord, plainRecord } from './field-names.ts';
import { isRecord } from './is-record.ts';
import { type Message, messageSchema, promptMessages } from './message.ts';
import { requireArguments, requireFields } from './options/require-arguments.ts';
import { tokenSequences } from './token-sequence.ts';
import type { Tokenizer } from './tokenizer.ts';
import type {
  ScoredTrajectory,
  Step,
  StopReason,
  TokenId,
  Trajectory,
  TrajectoryStatus,
} from './trajectory.ts';

/**
 * One token sequence with what is needed to learn from it. The flat view of a scored trajectory.
 *
 * A conversation that was only extended is one sample. If its history was rewritten between two steps, the
 * trajectory becomes several ({@link samplesFromTrajectory}). Further fields are kept.
 */
export interface Sample {
  readonly prompt: string | readonly Message[];
  /** Text of the last response. */
  readonly response: string;
  /** The whole sequence. Shape: `[T]`. */
  readonly tokens: readonly TokenId[];
  /** 1 where the policy sampled the token (it is trained on), else 0. Shape: `[T]`. */
  readonly lossMask: readonly (0 | 1)[];
  /** `null` if it could not be scored. */
  readonly reward: number | null;
  /** Logprobs under the behaviour policy, 0 where `lossMask` is 0. Absent for text nobody sampled. Shape: `[T]`. */
  readonly behaviorLogprobs?: readonly number[] | undefined;
  /** Place in the run, if there is an order. */
  readonly index?: number | undefined;
  /** Equal for samples that are compared with each other. */
  readonly groupIndex?: number | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly status: TrajectoryStatus;
}

/** Samples as columns. Every array has one entry per sample. */
export interface RolloutBatch {
  readonly tokens: readonly (readonly TokenId[])[];
  readonly lossMasks: readonly (readonly (0 | 1)[])[];
  readonly rewards: readonly (number | null)[];
  /** Tokens with mask 1. */
  readonly responseLengths: readonly number[];
  /** Present exactly if every sample has one. */
  readonly groupIndices?: readonly number[] | undefined;
  /** Present exactly if every sample has them. */
  readonly behaviorLogprobs?: readonly (readonly number[])[] | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const tokensSchema = z.array(z.int().nonnegative());
const maskSchema = z.array(z.union([z.literal(0), z.literal(1)]));
const logprobsSchema = z.array(z.number().max(0));
const aligned = (sample: Sample) =>
  sample.tokens.length === sample.lossMask.length &&
  (sample.behaviorLogprobs?.length ?? sample.tokens.length) === sample.tokens.length;

/** Schema of {@link Sample}. Missing fields get defaults, which are an empty token list, reward 0 and status `pending`. */
export const sampleSchema: z.ZodType<Sample> = openRecord({
  prompt: z.union([z.string(), z.array(messageSchema)]),
  response: z.string().default(''),
  tokens: tokensSchema.default([]),
  lossMask: maskSchema.default([]),
  reward: z.number().nullable().default(0),
  behaviorLogprobs: logprobsSchema.optional(),
  index: z.int().nonnegative().optional(),
  groupIndex: z.int().nonnegative().optional(),
  metadata: z.record(z.string(), z.unknown()).default({}),
  status: z.enum(['pending', 'completed', 'truncated', 'aborted', 'failed']).default('pending'),
}).refine(aligned, { path: ['tokens'], message: 'must be as many as lossMask and behaviorLogprobs' });

/** Schema of {@link RolloutBatch}. */
export const rolloutBatchSchema = plainRecord({
  tokens: z.array(tokensSchema),
  lossMasks: z.array(maskSchema),
  rewards: z.array(z.number().nullable()),
  responseLengths: z.array(z.int().nonnegative()),
  groupIndices: z.array(z.int().nonnegative()).optional(),
  behaviorLogprobs: z.array(logprobsSchema).optional(),
  metadata: z.record(z.string(), z.unknown()).default({}),
}) as unknown as z.ZodType<RolloutBatch>;

/**
 * The training sequences of one trajectory, in order.
 *
 * Sequences are those of {@link tokenSequences}. Each carries the trajectory's reward.
 *
 * @param options.split - `'conversation'` keeps turns that extend their conversation in one sample. `'turn'` makes a sample of each
 *   turn, with what the policy saw before it. Default `'conversation'`.
 * @param options.index - Place of the first sample in the run; the others count on from it.
 * @param options.groupIndex - Place of the trajectory's group.
 */
export function samplesFromTrajectory(
  settings: Pick<ScoredTrajectory, 'trajectory' | 'reward'>,
  options: {
    readonly split?: 'conversation' | 'turn';
    readonly index?: number;
    readonly groupIndex?: number;
  } = {},
): Sample[] {
  requireArguments('samplesFromTrajectory', { options: 'object?' }, options);
  requireFields('samplesFromTrajectory', { trajectory: 'object' }, settings);
  const { trajectory, reward } = settings;
  const { metadata } = trajectory.task;
  return sequencesOf(trajectory.steps, options.split).map(
    ({ tokens, mask, behaviorLogprobs, steps }, order) => ({
      prompt: trajectory.task.prompt,
      response: trajectory.steps[steps.reduce((last, step) => Math.max(last, step), -1)]?.text ?? '',
      tokens,
      lossMask: Array.from(mask, (trained): 0 | 1 => (trained === 1 ? 1 : 0)),
      behaviorLogprobs: [...behaviorLogprobs],
      reward,
      ...(options.index !== undefined && { index: options.index + order }),
      ...(options.groupIndex !== undefined && { groupIndex: options.groupIndex }),
      metadata: isRecord(metadata) ? metadata : { metadata },
      status: trajectory.status,
    }),
  );
}

function sequencesOf(turns: readonly Step[], split: 'conversation' | 'turn' = 'conversation') {
  if (split === 'conversation') return tokenSequences(turns);
  return turns.flatMap((turn, step) =>
    tokenSequences([turn]).map((sequence) => ({
      ...sequence,
      steps: sequence.steps.map((own) => (own < 0 ? own : step)),
    })),
  );
}

/** What a {@link Sample} does not say about the trajectory it stands for. */
export interface TrajectoryIdentity {
  readonly id: string;
  readonly policyVersion: number;
  /** Gives each step its text. */
  readonly tokenizer: Pick<Tokenizer, 'decode'>;
}

/**
 * A trajectory that {@link samplesFromTrajectory} turns back into this sample. Each run of trained tokens is one step.
 *
 * @throws ArgumentError if the sample has trained tokens without logprobs: nobody sampled them.
 */
export function trajectoryFromSample(sample: Sample, identity: TrajectoryIdentity): Trajectory {
  requireFields('trajectoryFromSample', { response: 'text', tokens: 'numbers', lossMask: 'numbers' }, sample);
  requireFields(
    'trajectoryFromSample',
    { id: 'text', policyVersion: 'number', tokenizer: 'object' },
    identity,
  );
  const { tokens, lossMask, behaviorLogprobs } = sample;
  const steps: Step[] = [];
  for (let start = lossMask.indexOf(1); start !== -1; ) {
    const next = lossMask.indexOf(0, start);
    const end = next === -1 ? tokens.length : next;
    if (behaviorLogprobs === undefined) {
      throw new ArgumentError(
        'trajectoryFromSample: expected behaviorLogprobs for the trained tokens, got none; only sampled text is a trajectory',
      );
    }
    const following = lossMask.indexOf(1, end);
    const sampled = tokens.slice(start, end);
    steps.push({
      promptTokens: tokens.slice(0, start),
      tokens: sampled,
      behaviorLogprobs: behaviorLogprobs.slice(start, end),
      text: following === -1 ? sample.response : identity.tokenizer.decode(sampled),
      stopReason: following === -1 ? stopReasonOf(sample.status) : 'stop',
    });
    start = following;
  }
  const task = { id: identity.id, prompt: sample.prompt, metadata: sample.metadata };
  return {
    id: identity.id,
    task,
    steps,
    messages: [
      ...promptMessages(sample.prompt),
      ...steps.map((step): Message => ({ role: 'assistant', content: step.text })),
    ],
    response: sample.response,
    status: sample.status,
    policyVersion: identity.policyVersion,
  };
}

function stopReasonOf(status: TrajectoryStatus): StopReason {
  if (status === 'truncated') return 'length';
  return status === 'completed' ? 'stop' : 'abort';
}

/** What becomes of samples before they are a batch. */
export interface SampleTransforms {
  /** Keeps the samples for which it returns `true`. By default all are kept. */
  readonly filter?: ((sample: Sample) => boolean) | undefined;
  /** Replaces the rewards of the samples kept. `null` means unscorable. By default they keep theirs. */
  readonly reward?: ((sample: Sample) => number | null | Promise<number | null>) | undefined;
}

/**
 * Filters samples, then scores those that are left, all at once. Their order stays.
 *
 * @throws RewardError if `reward` returns neither `null` nor a finite number.
 */
export async function transformSamples(
  samples: readonly Sample[],
  inputs: SampleTransforms,
): Promise<readonly Sample[]> {
  requireArguments('transformSamples', { samples: 'objects', inputs: 'object' }, samples, inputs);
  requireFields('transformSamples', { filter: 'function?', reward: 'function?' }, inputs);
  const { filter = () => true, reward } = inputs;
  const kept = samples.filter(filter);
  if (reward === undefined) return kept;
  return Promise.all(
    kept.map(async (sample) => {
      const given = await reward(sample);
      if (given === null || Number.isFinite(given)) return { ...sample, reward: given };
      throw new RewardError(
        `transformSamples: expected a finite number or null as the reward, got ${String(given)}`,
      );
    }),
  );
}

/** About a {@link RolloutBatch} as a whole. */
export interface RolloutBatchOptions {
  /** Written as `epoch_id`. */
  readonly epochId?: number | undefined;
  /** Written as `step_id`. */
  readonly stepId?: number | undefined;
  /** Further metadata of the batch. It wins over the fields that {@link rolloutBatch} writes. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Samples as columns.
 *
 * The metadata of the batch has the keys `batch_size`, `prompts` and `responses`, `epoch_id` and `step_id` if they are given, and
 * `sample_<key>` with one entry per sample for each metadata key of the first sample.
 */
export function rolloutBatch(samples: readonly Sample[], options: RolloutBatchOptions = {}): RolloutBatch {
  requireArguments('rolloutBatch', { samples: 'objects', options: 'object?' }, samples, options);
  for (const sample of samples) requireFields('rolloutBatch', { tokens: 'list', lossMask: 'list' }, sample);
  const groupIndices = samples.flatMap(({ groupIndex }) => (groupIndex === undefined ? [] : [groupIndex]));
  const behaviorLogprobs = samples.flatMap((sample) =>
    sample.behaviorLogprobs === undefined ? [] : [sample.behaviorLogprobs],
  );
  return {
    tokens: samples.map((sample) => sample.tokens),
    lossMasks: samples.map((sample) => sample.lossMask),
    rewards: samples.map((sample) => sample.reward),
    responseLengths: samples.map(({ lossMask }) => lossMask.filter((trained) => trained === 1).length),
    ...(groupIndices.length === samples.length && { groupIndices }),
    ...(behaviorLogprobs.length === samples.length && { behaviorLogprobs }),
    metadata: batchMetadata(samples, options),
  };
}

function batchMetadata(
  samples: readonly Sample[],
  { epochId, stepId, metadata }: RolloutBatchOptions,
): Readonly<Record<string, unknown>> {
  const columns = Object.keys(samples[0]?.metadata ?? {}).map((key) => [
    `sample_${key}`,
    samples.map((sample) => sample.metadata[key]),
  ]);
  return {
    ...(epochId !== undefined && { epoch_id: epochId }),
    ...(stepId !== undefined && { step_id: stepId }),
    batch_size: samples.length,
    prompts: samples.map(({ prompt }) => prompt),
    responses: samples.map(({ response }) => response),
    ...Object.fromEntries(columns),
    ...metadata,
  };
}
