import {
  ArgumentError,
  callback,
  type HostTensor,
  isRecord,
  parseOptions,
  RandomStream,
  type TokenId,
} from '@rlp/core';
import { elementCount } from '@rlp/onnx';
import * as z from 'zod';

import { modelConfigSchema } from '../config/config-schema.ts';
import type { ModelConfig } from '../config/model-config.ts';
import { type DecoderParameter, parameterSpecs } from '../decoder/parameters.ts';
import { tokenizerChat } from '../tokenizer/load-tokenizer.ts';
import type { TextTokenizer } from '../tokenizer/text-tokenizer.ts';
import type { LanguageModel } from './language-model.ts';
import { checkVocabulary } from './load-model.ts';

/** Options of {@link createModel}. */
export interface CreateModelOptions {
  /** Shape, from {@link parseModelConfig}. Begin, end and padding tokens come from the tokenizer. Required. */
  readonly config: ModelConfig;
  /** Tokenizer of the model. Required. */
  readonly tokenizer: TextTokenizer;
  /** Name of the random streams. Equal seeds give equal weights, tensor by tensor. Required. */
  readonly seed: string;
  /** Clock for chat templates that print the date. Default none. */
  readonly clock?: () => Date;
}

const optionsSchema = z.strictObject({
  config: modelConfigSchema,
  tokenizer: z.custom<TextTokenizer>(
    (value) => isRecord(value) && isRecord(value.files),
    'must be a tokenizer with its files, such as characterTokenizer or loadTokenizer make',
  ),
  seed: z.string(),
  clock: callback<() => Date>().optional(),
} satisfies Record<keyof CreateModelOptions, z.ZodType>);

/**
 * Creates a model with fresh weights, initialised as in transformers.
 *
 * Matrices and embeddings are normal with mean 0 and deviation `initializerRange`. Norms are 1 (0 in Gemma 3, which adds 1) and biases 0. In GPT-2 the
 * last matrix before each residual sum is divided by `√(2 · layers)`.
 *
 * @throws FormatError if the config has fewer embeddings than there are tokens, begin and end tokens included, ArgumentError
 *   if a tensor is larger than memory.
 */
export function createModel(options: CreateModelOptions): LanguageModel {
  parseOptions('createModel', optionsSchema, options, 'CreateModelOptions');
  const { config, tokenizer, seed, clock } = options;
  const roles = {
    bosId: tokenizer.bosId ?? config.bosId,
    eosIds: tokenizer.eosIds.length > 0 ? tokenizer.eosIds : config.eosIds,
  };
  checkVocabulary(config, { ...roles, vocabularySize: tokenizer.vocabularySize }, 'createModel');
  const weights = new Map(
    parameterSpecs(config).map((parameter) => [parameter.name, draw(config, parameter, seed)] as const),
  );
  return {
    config: { ...config, ...roles, paddingId: paddingId(tokenizer) ?? config.paddingId },
    weights,
    tokenizer,
    chat: tokenizerChat(tokenizer, { ...(clock && { clock }), origin: 'createModel' }),
    files: new Map(),
  };
}

function paddingId(tokenizer: TextTokenizer): TokenId | undefined {
  const token = tokenizer.files.config.pad_token;
  return typeof token === 'string' ? tokenizer.tokenId(token) : undefined;
}

function draw(config: ModelConfig, { name, shape, role, place }: DecoderParameter, seed: string): HostTensor {
  const data = allocate(name, shape);
  if (role === 'norm') data.fill(1 - (config.norm.offset ?? 0));
  if (role === 'embedding' || role === 'weight') {
    const smaller = config.architecture === 'gpt2' && place === 'residual';
    fillNormal(
      data,
      config.initializerRange / (smaller ? Math.sqrt(2 * config.layers) : 1),
      RandomStream.named(seed, 'weights', name),
    );
  }
  return { shape, data };
}

function allocate(name: string, shape: readonly number[]): Float32Array {
  try {
    return new Float32Array(elementCount(shape));
  } catch (cause) {
    throw new ArgumentError(`createModel: no memory for ${name} of [${shape}]; make the config smaller`, {
      cause,
    });
  }
}

/** Box–Muller transform that uses both values of each pair. */
function fillNormal(data: Float32Array, deviation: number, random: RandomStream): void {
  for (let i = 0; i < data.length; i += 2) {
    const radius = deviation * Math.sqrt(-2 * Math.log(1 - random.uniform()));
    const angle = 2 * Math.PI * random.uniform();
    data[i] = radius * Math.cos(angle);
    if (i + 1 < data.length) data[i + 1] = radius * Math.sin(angle);
  }
}
