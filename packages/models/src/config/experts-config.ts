import * as z from 'zod';

import type { ExpertsConfig } from './model-config.ts';
import { size } from './schemas.ts';
import { configError, parseContent } from './validation.ts';

/** Defaults of transformers 4.57, `Qwen3MoeConfig`. From 5 on it writes `num_local_experts`. */
const schema = z.looseObject({
  num_experts: size.max(4096).nullish(),
  num_local_experts: size.max(4096).nullish(),
  num_experts_per_tok: size.default(8),
  moe_intermediate_size: size.default(768),
  norm_topk_prob: z.boolean().default(false),
  decoder_sparse_step: size.default(1),
  mlp_only_layers: z.array(z.int().nonnegative()).nullish(),
});

/** Parses the fields of a mixture of experts. */
export function parseExperts(
  json: Readonly<Record<string, unknown>>,
  layers: number,
  file: string,
): ExpertsConfig {
  const fields = parseContent(schema, json, file);
  const { num_experts_per_tok: perToken, decoder_sparse_step: step } = fields;
  const count = fields.num_experts ?? fields.num_local_experts ?? 128;
  if (perToken > count) {
    throw configError(file, 'num_experts_per_tok', `${perToken} is more than the ${count} experts`);
  }
  const plain = new Set(fields.mlp_only_layers ?? []);
  const all = Array.from({ length: layers }, (_, layer) => layer);
  return {
    count,
    perToken,
    intermediateSize: fields.moe_intermediate_size,
    normalization: fields.norm_topk_prob ? 'chosen' : 'none',
    layers: new Set(all.filter((layer) => !plain.has(layer) && (layer + 1) % step === 0)),
  };
}
