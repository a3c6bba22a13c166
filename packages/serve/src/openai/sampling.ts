import type { SamplingOptions } from '@rlp/core';
import * as z from 'zod';
import type { Unmet } from '../answer/request.ts';

/** Sampling options as OpenAI and vLLM name them. */
export const samplingFields = {
  temperature: z.number().min(0).max(100).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.int().min(-1).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  repetition_penalty: z.number().min(1).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  stop_token_ids: z.array(z.int().nonnegative()).nullish(),
  seed: z.union([z.int(), z.string()]).nullish(),
  n: z.int().min(1).max(256).nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  ignore_eos: z.boolean().nullish(),
  include_stop_str_in_output: z.literal(false, 'is not supported; leave it out').nullish(),
  min_tokens: z.int().nonnegative().nullish(),
  response_format: z.looseObject({ type: z.string() }).nullish(),
};

/** Fields of vLLM and SGLang that limit which tokens are sampled. */
const constraints = [
  ...['structured_outputs', 'guided_json', 'guided_regex', 'guided_choice', 'guided_grammar'],
  ...['json_schema', 'regex', 'ebnf', 'structural_tag', 'bad_words', 'allowed_token_ids'],
];

/** What {@link samplingFields} read. */
export type SamplingBody = z.output<z.ZodObject<typeof samplingFields>>;

/** Core's names for the options. */
export function samplingOf(
  body: SamplingBody,
  maxTokens: number | null | undefined,
): Partial<SamplingOptions> {
  const { temperature, top_p, top_k, min_p, repetition_penalty, stop, stop_token_ids } = body;
  const stops = (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((text) => text !== '');
  const given = {
    ...{ maxTokens, topP: top_p, minP: min_p, repetitionPenalty: repetition_penalty },
    // Lower temperatures take the likeliest token.
    temperature: temperature != null && temperature < 1e-5 ? 0 : temperature,
    topK: top_k === -1 ? 0 : top_k,
    stopStrings: stops.length > 0 ? stops : undefined,
    stopTokens: stop_token_ids,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value != null));
}

/** How the request is drawn: its number of answers, its seed, what ends them, and what cannot be done. */
export function drawOf(body: SamplingBody) {
  const { n, seed, ignore_eos } = body;
  return {
    count: n ?? 1,
    seed: seed == null ? undefined : String(seed),
    ends: ignore_eos === true ? ('ignored' as const) : ('kept' as const),
    unmet: unmetSampling(body),
  };
}

function unmetSampling(body: SamplingBody): Unmet[] {
  const asked = {
    frequency_penalty: (body.frequency_penalty ?? 0) !== 0,
    presence_penalty: (body.presence_penalty ?? 0) !== 0,
    logit_bias: Object.keys(body.logit_bias ?? {}).length > 0,
    min_tokens: (body.min_tokens ?? 0) !== 0,
  };
  const others = Object.entries(asked).flatMap(([param, isAsked]) =>
    isAsked ? [{ param, problem: 'is not supported; leave it out' }] : [],
  );
  const given: Readonly<Record<string, unknown>> = body;
  const limited = constraints
    .filter((param) => given[param] != null && String(given[param]) !== '')
    .map((param) => ({ param, problem: `is not supported, ${unconstrained}` }));
  return [...others, ...limited, ...unmetFormat(body.response_format?.type, 'response_format')];
}

const unconstrained = 'because decoding is not constrained here; ask for the form in the prompt';

/** A form of the answer that no constrained decoding enforces here. */
export function unmetFormat(type: string | undefined, param: string): Unmet[] {
  if (type === undefined || type === 'text') return [];
  return [{ param, problem: `"${type}" is not supported, ${unconstrained}` }];
}
