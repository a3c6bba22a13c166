import * as z from 'zod';

import type { PositionEncoding, RopeScaling } from './model-config.ts';
import { configError, parseContent } from './validation.ts';

const positive = z.number().positive();

const linearSchema = z.looseObject({ factor: positive });

const llama3Schema = z.looseObject({
  factor: positive,
  low_freq_factor: positive,
  high_freq_factor: positive,
  original_max_position_embeddings: positive,
});

const yarnSchema = z.looseObject({
  factor: positive,
  original_max_position_embeddings: positive.nullish(),
  attention_factor: positive.nullish(),
  mscale: z.number().nullish(),
  mscale_all_dim: z.number().nullish(),
  beta_fast: positive.nullish(),
  beta_slow: positive.nullish(),
  truncate: z.boolean().default(true),
});

const longropeSchema = z.looseObject({
  short_factor: z.array(positive).min(1),
  original_max_position_embeddings: positive.nullish(),
  attention_factor: positive.nullish(),
});

type Fields = Record<string, unknown>;

/** What a config says beside its rotary fields. */
export interface RopeDefaults {
  /** Positions of the model. */
  readonly context: number;
  /** Positions of pretraining, before any scaling. */
  readonly original: number;
  /** Base of the frequencies if the file names none. */
  readonly theta: number;
}

/** Where the fields were found, for error messages. */
interface Place {
  readonly file: string;
  readonly field: string;
}

function linear(fields: Fields, { file, field }: Place): RopeScaling {
  return { type: 'linear', factor: parseContent(linearSchema, fields, file, [field]).factor };
}

function llama3(fields: Fields, { file, field }: Place): RopeScaling {
  const parsed = parseContent(llama3Schema, fields, file, [field]);
  return {
    type: 'llama3',
    factor: parsed.factor,
    lowFrequencyFactor: parsed.low_freq_factor,
    highFrequencyFactor: parsed.high_freq_factor,
    originalContextLength: parsed.original_max_position_embeddings,
  };
}

/** YaRN's growth of attention with the context: `0.1 · mscale · ln(factor) + 1`. */
function magnitudeScale(factor: number, mscale: number): number {
  return factor <= 1 ? 1 : 0.1 * mscale * Math.log(factor) + 1;
}

function yarn(fields: Fields, { file, field }: Place, { context }: RopeDefaults): RopeScaling {
  const parsed = parseContent(yarnSchema, fields, file, [field]);
  const { factor, mscale, mscale_all_dim: mscaleAll } = parsed;
  const derived =
    mscale && mscaleAll
      ? magnitudeScale(factor, mscale) / magnitudeScale(factor, mscaleAll)
      : magnitudeScale(factor, 1);
  return {
    type: 'yarn',
    factor,
    originalContextLength: parsed.original_max_position_embeddings ?? context,
    attentionFactor: parsed.attention_factor ?? derived,
    betaFast: parsed.beta_fast ?? 32,
    betaSlow: parsed.beta_slow ?? 1,
    truncate: parsed.truncate ? 'integer' : 'none',
  };
}

function longrope(fields: Fields, { file, field }: Place, defaults: RopeDefaults): RopeScaling {
  const parsed = parseContent(longropeSchema, fields, file, [field]);
  const original = parsed.original_max_position_embeddings ?? defaults.original;
  const growth = defaults.context / original;
  const derived = growth <= 1 ? 1 : Math.sqrt(1 + Math.log(growth) / Math.log(original));
  return {
    type: 'longrope',
    factors: parsed.short_factor,
    attentionFactor: parsed.attention_factor ?? derived,
  };
}

const SCALINGS: Readonly<
  Record<string, (fields: Fields, place: Place, defaults: RopeDefaults) => RopeScaling>
> = { default: () => ({ type: 'none' }), linear, llama3, yarn, longrope, su: longrope };

/**
 * Reads the rotary encoding of a config.
 *
 * It is `rope_theta` with `rope_scaling`, or both inside `rope_parameters` in newer files.
 *
 * @throws FormatError for scalings other than linear, llama3, yarn and longrope.
 */
export function parseRope(json: Fields, defaults: RopeDefaults, file: string): PositionEncoding {
  const field = json.rope_parameters ? 'rope_parameters' : 'rope_scaling';
  const fields = ropeFields(json[field] ?? {}, { file, field });
  const theta = fields.rope_theta ?? json.rope_theta ?? defaults.theta;
  if (typeof theta !== 'number' || !(theta > 1)) {
    throw configError(file, 'rope_theta', `expected a number above 1, got ${JSON.stringify(theta)}`);
  }
  refusePartialRotation([json.partial_rotary_factor, fields.partial_rotary_factor], file);
  const type = String(fields.rope_type ?? fields.type ?? 'default');
  const parse = Object.hasOwn(SCALINGS, type) ? SCALINGS[type] : undefined;
  if (!parse) {
    const supported = Object.keys(SCALINGS).join(', ');
    throw configError(file, `${field}.rope_type`, `'${type}' is not supported`, `supported: ${supported}`);
  }
  return { type: 'rotary', theta, scaling: parse(fields, { file, field }, defaults) };
}

function ropeFields(value: unknown, { file, field }: Place): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw configError(file, field, 'expected an object or null');
  }
  const nested = Object.values(value).some(
    (each) => typeof each === 'object' && each !== null && !Array.isArray(each),
  );
  if (!nested) return value as Fields;
  throw configError(
    file,
    field,
    'parameters by kind of layer are not supported',
    'give one set for all layers',
  );
}

function refusePartialRotation(factors: readonly unknown[], file: string): void {
  if (factors.every((factor) => factor === undefined || factor === null || factor === 1)) return;
  throw configError(file, 'partial_rotary_factor', 'rotating a part of each head is not supported', 'use 1');
}
