import { ArgumentError, type PublicationForm } from '@rlp/core';
import { type JsonClient, RequestError } from '@rlp/http/client';
import { remedies, unusable } from '../remote/checked-sequences.ts';
import type { ResolvedRemoteOptions } from '../remote/options.ts';
import type { RemoteAbilities } from '../remote/remote-server.ts';
import type { VllmFacts } from './server.ts';
import { completionsSchema, generateSchema, modelsSchema, promptLogprobs, type VllmRoute } from './wire.ts';

/** Asks a server what it serves and what it can do. */
export async function probeVllm(
  client: JsonClient,
  options: Pick<ResolvedRemoteOptions, 'model' | 'tokenizer'>,
): Promise<VllmFacts & { readonly contextLength: number }> {
  const { model, root, contextLength } = await servedModel(client, options.model);
  const token = options.tokenizer.bosId ?? options.tokenizer.encode('a')[0] ?? 0;
  const logprobs = await logprobsMode(client, model, token);
  const route = await routeOf(client, model, token);
  const distributions = await distributionsOf(client, model, token);
  const weights = await weightForms(client);
  // With adapters, vLLM 0.32 ends when it scores a prompt beside another request.
  const scoring = weights.accepts.includes('adapter') ? 'alone' : 'together';
  const abilities = { ...weights, logprobs, distributions, scoring } as const;
  return { model, root, contextLength, route, abilities };
}

async function servedModel(client: JsonClient, wanted: string | undefined) {
  const answer = await client.json('/v1/models');
  const { data } = modelsSchema.safeParse(answer);
  if (data === undefined) throw client.unexpected('a list of models', answer);
  const models = data.data.filter(({ parent }) => !parent);
  const found = wanted === undefined ? models[0] : models.find(({ id }) => id === wanted);
  if (found === undefined) {
    const names = models.map(({ id }) => id).join(', ') || 'none';
    throw new ArgumentError(
      `createVllmSampler: expected the model "${wanted ?? 'any'}" at ${client.place}, got ${names}`,
    );
  }
  if (!found.max_model_len)
    throw unusable(client, 'expected max_model_len of the model, got none', 'check that this is vLLM');
  return { model: found.id, root: found.root ?? found.id, contextLength: found.max_model_len };
}

/** Whether logprobs are those of temperature 1. Eight tokens drawn at temperature 2 are scored again, which happens at temperature 1. */
async function logprobsMode(
  client: JsonClient,
  model: string,
  token: number,
): Promise<RemoteAbilities['logprobs']> {
  const sampling = { max_tokens: 8, temperature: 2, seed: 1, logprobs: 5, return_token_ids: true };
  const body = { model, prompt: [token], ...sampling, ignore_eos: true };
  const { data } = completionsSchema.safeParse(await client.json('/v1/completions', { body }));
  const sampled = data?.choices[0];
  if (sampled?.logprobs === undefined || sampled.logprobs === null) {
    throw new ArgumentError(
      `createVllmSampler: ${client.place} gives no tokens with their logprobs; vLLM does from 0.10.2 on`,
    );
  }
  for (const top of sampled.logprobs.top_logprobs ?? []) {
    const total = Object.values(top ?? {}).reduce((sum, logprob) => sum + Math.exp(logprob), 0);
    if (total > 1.01)
      throw unusable(client, 'its logprobs are not natural logarithms of probabilities', remedies.logprobs);
  }
  const tokens = [token, ...sampled.token_ids];
  const scoring = { model, prompt: tokens, max_tokens: 1, prompt_logprobs: 0, return_token_ids: true };
  const answer = await client.json('/v1/completions', { body: scoring });
  const scored = completionsSchema.safeParse(answer).data;
  const positions = scored?.choices[0]?.prompt_logprobs;
  if (!positions) throw client.unexpected('prompt_logprobs', answer);
  const { logprobs } = promptLogprobs(positions, tokens, 'none');
  const gap = sampled.logprobs.token_logprobs.reduce<number>(
    (largest, logprob, t) => Math.max(largest, Math.abs((logprob ?? 0) - (logprobs[t + 1] ?? 0))),
    0,
  );
  if (gap < 1e-2) return 'at temperature 1, before filters';
  // Filters that leave one token make it certain.
  const filtered = { ...body, max_tokens: 1, top_k: 1 };
  const only = completionsSchema.safeParse(await client.json('/v1/completions', { body: filtered })).data;
  const logprob = only?.choices[0]?.logprobs?.token_logprobs[0] ?? 0;
  return logprob < -1e-2 ? 'at the sampling temperature, before filters' : 'after temperature and filters';
}

async function routeOf(client: JsonClient, model: string, token: number): Promise<VllmRoute> {
  const body = { model, token_ids: [token], sampling_params: { max_tokens: 1, logprobs: 0 } };
  const answer = await unlessRefused(client.json('/inference/v1/generate', { body }));
  const choice = generateSchema.safeParse(answer).data?.choices[0];
  return choice?.token_ids && choice.logprobs?.content ? 'generate' : 'completions';
}

async function distributionsOf(client: JsonClient, model: string, token: number) {
  const body = { model, prompt: [token, token], max_tokens: 1, prompt_logprobs: -1, return_token_ids: true };
  const answer = await unlessRefused(client.json('/v1/completions', { body }));
  return completionsSchema.safeParse(answer).data ? ('whole' as const) : ('none' as const);
}

/** Forms of weights that it accepts, and how to make it accept the others. */
async function weightForms(client: JsonClient): Promise<Pick<RemoteAbilities, 'accepts' | 'refusals'>> {
  const body = { lora_name: 'rlp probe' };
  const adapters = await client.text('/v1/unload_lora_adapter', { body }).then(
    () => true,
    (error: unknown) => {
      if (!(error instanceof RequestError) || error.status === undefined) throw error;
      return /cannot be found/.test(error.detail ?? '');
    },
  );
  const info = await unlessRefused(client.json('/weight_info'));
  const accepts: PublicationForm[] = [];
  if (adapters) accepts.push('adapter');
  if (info !== undefined) accepts.push('checkpoint');
  return {
    accepts,
    refusals: {
      adapter: 'start it with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=1',
      checkpoint: 'start it with VLLM_SERVER_DEV_MODE=1',
    },
  };
}

/** `undefined` for an answer that refuses the request. */
async function unlessRefused(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RequestError && error.status !== undefined && error.status < 500) return undefined;
    throw error;
  }
}
