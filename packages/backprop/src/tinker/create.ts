import { ArgumentError, parseOptions, withForeignNames } from '@rlp/core';
import { failureSentence, RequestError } from '@rlp/http/client';
import * as z from 'zod';
import { backendNames } from '../optimizer/foreign-names.ts';
import { scheduleSchema } from '../optimizer/schedule.ts';
import { TinkerBackend } from './backend.ts';
import { probeReduction } from './probe.ts';
import { sessionSchemaOptions, TinkerSession, tinkerWords } from './session.ts';
import { anySchema, capabilitiesSchema, modelSchema } from './wire.ts';

const names = { ...backendNames, rank: 'lora_rank r' };

const schema = withForeignNames(sessionSchemaOptions, names).extend({
  /** Name of the model to train, as the server lists it. Default: the only one. */
  model: z.string().min(1).optional(),
  /** Tokens that the model knows. Required. */
  vocabularySize: z.int().positive(),
  /** Most tokens of a sequence. Default 32 768. */
  contextLength: z.int().positive().default(32_768),
  /** Rank of the adapter that is trained. Default 32. */
  rank: z.int().positive().default(32),
  /** Seed of the adapter's first weights. Default 0. */
  seed: z.int().nonnegative().default(0),
  /** Learning rate before the schedule. Default 0.0001. */
  learningRate: z.number().positive().default(1e-4),
  /** How the learning rate changes over updates. `points` take any shape. Default constant. */
  schedule: scheduleSchema.prefault({ kind: 'constant' }),
  /** Adam, as the server computes it. */
  optimizer: z
    .strictObject({
      /** Decay of the first moment. Default 0.9. */
      beta1: z.number().min(0).lt(1).default(0.9),
      /** Decay of the second moment. Default 0.95. */
      beta2: z.number().min(0).lt(1).default(0.95),
      /** Added to the square root of the second moment. Default 1e-12. */
      epsilon: z.number().positive().default(1e-12),
      /** Decoupled weight decay. Default 0. */
      weightDecay: z.number().nonnegative().default(0),
    })
    .prefault({}),
  /** Global L2 norm that the server clips gradients to. SkyRL 0.3 does not clip. Default `'off'`. */
  maxGradientNorm: z.union([z.number().positive(), z.literal('off')]).default('off'),
  /** How the server adds up the losses of tokens. `'probe'` finds out with two updates of a model that is thrown away. Default `'probe'`. */
  reduction: z.enum(['probe', 'sum', 'means']).default('probe'),
  /**
   * Computes losses on the server where it has them: one pass instead of two. `'probe'` compares each with our derivative before its first use, on
   * a model that is thrown away. `'off'` computes all losses but cross-entropies here. Default `'probe'`.
   */
  nativeLosses: z.enum(['probe', 'off']).default('probe'),
  /** Most sequences of a request. Default 1024. */
  sequencesPerRequest: z.int().positive().default(1024),
  /** Bytes of a request, about. Default 5 000 000. */
  bytesPerRequest: z.int().positive().default(5_000_000),
});

/** Options of {@link createTinkerBackend}. `url` is the root of the server, as in `http://127.0.0.1:8000`. */
export interface TinkerBackendOptions extends z.input<typeof schema> {}

type Resolved = z.output<typeof schema>;

/**
 * A policy that a server of Tinker's protocol trains: Tinker itself, or SkyRL on your own machines.
 *
 * The server trains a low-rank adapter. Any loss of logprobs and columns works. {@link createTinkerSampler} samples with the weights.
 *
 * @throws OptionsError naming every problem at once. ArgumentError for a server that is away, refuses the key or lacks the model.
 */
export async function createTinkerBackend(options: TinkerBackendOptions): Promise<TinkerBackend> {
  const resolved = parseOptions('createTinkerBackend', schema, options);
  const session = await TinkerSession.open('createTinkerBackend', resolved).catch(explained);
  try {
    const baseModel = await servedModel(session, resolved.model);
    const create = () => createModel(session, baseModel, resolved);
    const reduction =
      resolved.reduction === 'probe' ? await probeReduction(session, await create()) : resolved.reduction;
    return new TinkerBackend(session, {
      ...{ ...resolved, baseModel, create, reduction, adam: adamOf(resolved), id: await create() },
    });
  } catch (error) {
    session.close();
    return explained(error);
  }
}

function adamOf({ optimizer, maxGradientNorm }: Resolved): Record<string, number> {
  const { beta1, beta2, epsilon, weightDecay } = optimizer;
  const adam = { beta1, beta2, eps: epsilon, weight_decay: weightDecay };
  return maxGradientNorm === 'off' ? adam : { ...adam, grad_clip_norm: maxGradientNorm };
}

async function servedModel(session: TinkerSession, wanted: string | undefined): Promise<string> {
  const { data } = capabilitiesSchema.safeParse(await session.get('/get_server_capabilities'));
  const names = (data?.supported_models ?? []).flatMap(({ model_name }) => model_name ?? []);
  const found = wanted === undefined && names.length === 1 ? names[0] : names.find((name) => name === wanted);
  if (found !== undefined) return found;
  throw new ArgumentError(
    `createTinkerBackend: expected the model "${wanted ?? 'any'}" at ${session.place}, got ${names.join(', ') || 'none'}; set \`model\` to one of them`,
  );
}

async function createModel(
  session: TinkerSession,
  baseModel: string,
  { rank, seed }: Resolved,
): Promise<string> {
  const lora_config = { rank, seed, train_unembed: true, train_mlp: true, train_attn: true };
  const body = { session_id: session.id, base_model: baseModel, lora_config, type: 'create_model' };
  const submitted = await session.submit('/create_model', body, modelSchema);
  await session.result(submitted, anySchema);
  return submitted.model_id;
}

function explained(error: unknown): never {
  if (!(error instanceof RequestError)) throw error;
  const reason = failureSentence(error, {
    ...tinkerWords,
    less: 'check that the server answers at all',
    missing: 'check that a Tinker server runs at `url`',
  });
  throw new ArgumentError(`createTinkerBackend: ${reason}`, { cause: error });
}
