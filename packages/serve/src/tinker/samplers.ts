import type { SampleRequest } from '@rlp/core';
import { distributions, likeliest } from '../answer/top-logprobs.ts';
import { ApiError } from '../api-error.ts';
import { WeightTurns } from '../weights/turns.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { HostedSampler, TinkerTrainer } from './trainer.ts';
import { type RequestOf, tokensOf } from './wire.ts';

/** Logprob that stands for none, as Tinker writes it. */
type MaybeLogprob = number | null;

/**
 * Samples with the model's first weights, and with those that policies published.
 *
 * Two samplers do it: one keeps the first weights, the other takes over published ones in turns, so no request sees weights that it did not
 * ask for.
 */
export class Samplers {
  readonly #trainer: TinkerTrainer;
  readonly #checkpoints: Checkpoints;
  readonly #made = new Map<'first' | 'published', Promise<HostedSampler>>();
  readonly #turns: WeightTurns;
  #versions = 0;
  #requests = 0;

  constructor(trainer: TinkerTrainer, checkpoints: Checkpoints) {
    this.#trainer = trainer;
    this.#checkpoints = checkpoints;
    this.#turns = new WeightTurns('', (path) => this.#switchTo(path));
  }

  /** Answers a request with the weights of `path`, or with the first ones. */
  async sample(
    request: RequestOf<'/asample'>,
    path: string | undefined,
    signal: AbortSignal,
  ): Promise<object> {
    const number = this.#requests++;
    if (path === undefined) return answer(await this.#sampler('first'), request, { signal, number });
    return this.#turns.run(path, signal, async () =>
      answer(await this.#sampler('published'), request, { signal, number }),
    );
  }

  async close(): Promise<void> {
    const made = await Promise.allSettled(this.#made.values());
    await Promise.all(made.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)));
  }

  #sampler(which: 'first' | 'published'): Promise<HostedSampler> {
    let sampler = this.#made.get(which);
    if (sampler === undefined) {
      sampler = this.#trainer.createSampler(which);
      this.#made.set(which, sampler);
      sampler.catch(() => this.#made.delete(which));
    }
    return sampler;
  }

  async #switchTo(path: string): Promise<void> {
    const { files, rank } = await this.#checkpoints.find(path, 'sampler_weights');
    const sampler = await this.#sampler('published');
    const kind = rank > 0 ? 'adapter' : 'checkpoint';
    await sampler.updateWeights({ kind, version: ++this.#versions, path: files });
  }
}

async function answer(
  sampler: HostedSampler,
  request: RequestOf<'/asample'>,
  { signal, number }: { readonly signal: AbortSignal; readonly number: number },
): Promise<object> {
  const prompt = tokensOf(request.prompt);
  const [completions, scored] = await Promise.all([
    sampler.sample(sampleRequest(sampler, request, { prompt, signal, number })),
    promptScores(sampler, prompt, request, signal),
  ]);
  const sequences = completions.map(({ tokens, behaviorLogprobs, stopReason }) => ({
    ...{ stop_reason: stopReason === 'stop' ? 'stop' : 'length', tokens, logprobs: behaviorLogprobs },
  }));
  return { sequences, ...scored, type: 'sample' };
}

function sampleRequest(
  { contextLength }: HostedSampler,
  { num_samples, sampling_params }: RequestOf<'/asample'>,
  given: { readonly prompt: readonly number[]; readonly signal: AbortSignal; readonly number: number },
): SampleRequest {
  const { prompt, signal, number } = given;
  const { max_tokens, seed, stop, temperature, top_k, top_p } = sampling_params;
  const room = contextLength - prompt.length;
  if (room < 1) {
    throw new ApiError(400, `expected a prompt below ${contextLength} tokens, got ${prompt.length}`);
  }
  const stops: readonly (string | number)[] = typeof stop === 'string' ? [stop] : (stop ?? []);
  return {
    ...{ prompt, signal, temperature, count: num_samples, topP: top_p, topK: Math.max(0, top_k) },
    maxTokens: Math.min(room, max_tokens ?? room),
    seed: seed === null || seed === undefined ? `request ${number}` : String(seed),
    stopTokens: stops.filter((one) => typeof one === 'number'),
    stopStrings: stops.filter((one) => typeof one === 'string'),
  };
}

/** Logprobs of the prompt's tokens, and the likeliest ones. The first token has none. */
async function promptScores(
  sampler: HostedSampler,
  prompt: readonly number[],
  { prompt_logprobs, topk_prompt_logprobs: count }: RequestOf<'/asample'>,
  signal: AbortSignal,
): Promise<object> {
  const part = { prompt: prompt.slice(0, 1), completion: prompt.slice(1) };
  const logprobs: MaybeLogprob[] = prompt.slice(0, 1).map(() => null);
  const likely: ([number, number][] | null)[] = [...logprobs] as null[];
  if (prompt_logprobs === true && prompt.length > 1) {
    const [scores] = await sampler.scoreTokens([part], { signal });
    logprobs.push(...scores!.logprobs);
  }
  if (count > 0) {
    for await (const row of distributions(sampler, { ...part, temperature: 1, signal })) {
      likely.push(likeliest(row, count).map(({ token, logprob }) => [token, logprob]));
    }
  }
  return {
    ...(prompt_logprobs === true && { prompt_logprobs: logprobs }),
    ...(count > 0 && { topk_prompt_logprobs: likely }),
  };
}
