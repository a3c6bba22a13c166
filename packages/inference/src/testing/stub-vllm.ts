import { RandomStream } from '@rlp/core';
import type { Fetch } from '@rlp/http/client';

/** Tokens that the stub's policy knows. */
export const stubVocabulary = 16;

type Body = Readonly<Record<string, unknown>>;
type Answer = { readonly status?: number; readonly body: unknown };

/** Changes what the stub does. Return `undefined` to leave an answer as it is. */
export type Fault = (path: string, body: Body, answer: Answer) => Answer | Promise<Answer> | undefined;

/** Flags that the stub was started with. */
interface StubSettings {
  /** `--enable-scale-out`. Default true. */
  readonly generate?: boolean;
  /** `--max-logprobs -1`. Default false. */
  readonly wholeLogprobs?: boolean;
  /** Logprobs of temperature 1, of the sampling temperature, or of what filters leave too. Default `'raw'`. */
  readonly logprobs?: 'raw' | 'tempered' | 'processed';
}

/**
 * A server with the routes of vLLM 0.32 that the driver calls, in the shapes of `vllm-0.32.json`. Its policy is a formula of the weights'
 * name, the last token and the next one.
 */
export class StubVllm {
  readonly asked: { readonly path: string; readonly body: Body }[] = [];
  fault: Fault = () => undefined;
  readonly #settings: Required<StubSettings>;
  #adapters = new Map<string, string>();
  #weights = 'base';
  #version = 'default';
  isUp = true;

  constructor(settings: StubSettings = {}) {
    this.#settings = { generate: true, wholeLogprobs: false, logprobs: 'raw', ...settings };
  }

  /** Forgets adapters and checkpoints, as a new process does. */
  restart(): void {
    this.#adapters = new Map();
    this.#weights = 'base';
    this.#version = 'default';
  }

  readonly fetch: Fetch = async (url, { body: text, signal }) => {
    signal.throwIfAborted();
    if (!this.isUp) throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
    const path = new URL(url).pathname;
    const body = JSON.parse(text ?? '{}') as Body;
    this.asked.push({ path, body });
    const given = this.#answer(path, body);
    const answer = (await this.fault(path, body, given)) ?? given;
    signal.throwIfAborted();
    const written = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    return { status: answer.status ?? 200, headers: { get: () => null }, text: async () => written };
  };

  #answer(path: string, body: Body): Answer {
    const refused = (status: number, message: string) => ({ status, body: { error: { message } } });
    const weights = this.#weightsOf(body.model);
    switch (path) {
      case '/v1/models': {
        const base = { id: 'tiny', root: '/models/tiny', parent: null, max_model_len: 32 };
        const adapters = [...this.#adapters].map(([id, root]) => ({ id, root, parent: 'tiny' }));
        return { body: { data: [base, ...adapters] } };
      }
      case '/inference/v1/generate':
        if (!this.#settings.generate) return refused(403, 'start with --enable-scale-out');
        if (weights === undefined) return refused(404, `The model ${String(body.model)} does not exist.`);
        return { body: { choices: this.#choices(body.sampling_params as Body, body.token_ids, weights) } };
      case '/v1/completions':
        if (weights === undefined) return refused(404, `The model ${String(body.model)} does not exist.`);
        if (body.prompt_logprobs === -1 && !this.#settings.wholeLogprobs) {
          return refused(400, 'greater than max allowed: 20');
        }
        return { body: { model: body.model, choices: this.#completions(body, weights) } };
      case '/v1/load_lora_adapter':
        if (/missing/.test(String(body.lora_path))) return refused(404, 'No adapter found');
        this.#adapters.set(String(body.lora_name), String(body.lora_path));
        return { body: 'Success: LoRA adapter added successfully.' };
      case '/v1/unload_lora_adapter': {
        const known = this.#adapters.delete(String(body.lora_name));
        return known ? { body: 'Success' } : refused(404, `The lora adapter cannot be found.`);
      }
      case '/weight_info':
        return { body: { weight_version: this.#version } };
      case '/update_weight_version':
        this.#version = String(body.new_version);
        return { body: { success: true } };
      case '/collective_rpc': {
        const { weights_path: from } = body.kwargs as { weights_path: string };
        if (/missing/.test(from)) return refused(400, 'No such directory');
        this.#weights = from;
        return { body: { results: [null] } };
      }
      default:
        return { body: { status: 'ok' } };
    }
  }

  #weightsOf(model: unknown): string | undefined {
    return model === 'tiny' ? this.#weights : this.#adapters.get(String(model));
  }

  #choices(sampling: Body, prompt: unknown, weights: string) {
    const count = Number(sampling.n ?? 1);
    return Array.from({ length: count }, (_, index) => {
      const { tokens, logprobs, finish } = this.#draw(prompt as number[], sampling, weights, index);
      return {
        ...{ index, token_ids: tokens, finish_reason: finish },
        logprobs: { content: tokens.map((token_id, t) => ({ token_id, logprob: logprobs[t] })) },
        weight_versions: [{ version: this.#version, start: 0, end: tokens.length }],
      };
    });
  }

  #draw(prompt: readonly number[], sampling: Body, weights: string, index: number) {
    return drawStub(prompt, { ...sampling, logprobs_mode: this.#settings.logprobs }, weights, index);
  }

  #completions(body: Body, weights: string) {
    const prompt = body.prompt as number[];
    const count = Number(body.n ?? 1);
    return Array.from({ length: count }, (_, index) => {
      const { tokens, logprobs, finish } = this.#draw(prompt, body, weights, index);
      return {
        ...{ index, token_ids: tokens, prompt_token_ids: prompt, finish_reason: finish },
        logprobs: { token_logprobs: logprobs, top_logprobs: logprobs.map((x, t) => ({ [tokens[t]!]: x })) },
        prompt_logprobs: prompt.map((token, t) =>
          t === 0 ? null : position(prompt[t - 1]!, token, body, weights),
        ),
      };
    });
  }
}

function position(last: number, token: number, { prompt_logprobs: wanted }: Body, weights: string) {
  const logprobs = stubLogprobs(weights, last);
  const shown = wanted === -1 ? logprobs.keys() : [token];
  return Object.fromEntries([...shown].map((v) => [v, { logprob: logprobs[v] }]));
}

/** Logprobs of the stub's policy after a token. */
export function stubLogprobs(weights: string, last: number): number[] {
  const name = [...weights].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  const logits = Array.from({ length: stubVocabulary }, (_, v) => 2 * Math.sin(name + 0.7 * last + 1.9 * v));
  const normalizer = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
  return logits.map((logit) => logit - normalizer);
}

/** The largest `most` of some weights, or all of them if that is 0. */
function largest(weights: readonly number[], most: number): readonly number[] {
  const least = weights.toSorted((a, b) => b - a)[(most || weights.length) - 1]!;
  return weights.map((weight) => (weight < least ? 0 : weight));
}

/** Draws one completion of the stub's policy, by vLLM's names of options. */
export function drawStub(prompt: readonly number[], sampling: Body, weights: string, member: number) {
  const {
    max_tokens: most = 16,
    temperature = 1,
    seed = 0,
    stop_token_ids: stops = [],
    ignore_eos,
    top_k = 0,
    logprobs_mode: mode = 'raw',
  } = sampling;
  const random = RandomStream.named('stub', Number(seed), member);
  const tokens: number[] = [];
  const logprobs: number[] = [];
  while (tokens.length < Number(most)) {
    const row = stubLogprobs(weights, tokens.at(-1) ?? prompt.at(-1)!);
    const scaled = row.map((logprob) => Math.exp(logprob / (Number(temperature) || 1e-3)));
    const kept = mode === 'processed' ? largest(scaled, Number(top_k)) : scaled;
    const total = kept.reduce((a, b) => a + b, 0);
    let rest = random.uniform() * total;
    let token = 0;
    while (token < row.length - 1 && rest >= kept[token]!) rest -= kept[token++]!;
    tokens.push(token);
    logprobs.push(mode === 'raw' ? row[token]! : Math.log(kept[token]! / total));
    if ((token === 1 && !ignore_eos) || (stops as number[]).includes(token)) {
      return { tokens, logprobs, finish: 'stop' };
    }
  }
  return { tokens, logprobs, finish: 'length' };
}
