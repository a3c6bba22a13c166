import { RandomStream } from '@rlp/core';
import type { Fetch } from '@rlp/http/client';

/** Tokens that the stub's policy knows. */
export const stubVocabulary = 6;

type Body = Readonly<Record<string, unknown>>;
type Answer = { readonly status?: number; readonly body: unknown };

interface Datum {
  readonly model_input: { readonly chunks: readonly { readonly tokens: readonly number[] }[] };
  readonly loss_fn_inputs: Readonly<Record<string, { readonly data: readonly number[] }>>;
}

/** A table of logits that the stub trains, `[V, V]` by the token before. */
interface Model {
  logits: Float64Array;
  gradient: Float64Array;
  moment1: Float64Array;
  moment2: Float64Array;
  sequences: number;
  updates: number;
}

/** How a test changes what the stub does. Return `undefined` to leave an answer as it is. */
export type Fault = (path: string, body: Body, answer: Answer) => Answer | Promise<Answer> | undefined;

/**
 * A server with the routes of Tinker's protocol that the driver asks, in the shapes of SkyRL 0.3.0. Its policy is a table of logits.
 * `means` divides losses by their weights and by the number of sequences, as SkyRL's JAX engine does.
 */
export class StubTinker {
  readonly asked: { readonly path: string; readonly body: Body; readonly key: string | undefined }[] = [];
  fault: Fault = () => undefined;
  /** Answers in place of the stub, which then does nothing. */
  refusal: (path: string) => Answer | undefined = () => undefined;
  readonly #reduction: 'sum' | 'means';
  readonly #models = new Map<string, Model>();
  readonly #saved = new Map<string, Model>();
  readonly #futures = new Map<string, unknown>();
  #names = 0;

  constructor(reduction: 'sum' | 'means') {
    this.#reduction = reduction;
  }

  readonly fetch: Fetch = async (url, { body: text, headers, signal }) => {
    signal.throwIfAborted();
    const path = new URL(url).pathname.replace('/api/v1', '');
    const body = JSON.parse(text ?? '{}') as Body;
    this.asked.push({ path, body, key: headers['x-idempotency-key'] });
    const given = this.refusal(path) ?? this.#answer(path, body);
    const { status = 200, body: answer } = (await this.fault(path, body, given)) ?? given;
    const written = typeof answer === 'string' ? answer : JSON.stringify(answer);
    return { status, headers: { get: () => null }, text: async () => written };
  };

  #answer(path: string, body: Body): Answer {
    switch (path) {
      case '/create_session':
        return { body: { type: 'create_session', session_id: 'session_1' } };
      case '/get_server_capabilities':
        return { body: { supported_models: [{ model_name: 'tiny' }] } };
      case '/create_model': {
        const model_id = `model_${this.#names++}`;
        this.#models.set(model_id, newModel());
        return this.#future({ model_id }, { model_id });
      }
      case '/retrieve_future': {
        const result = this.#futures.get(String(body.request_id));
        return result === undefined
          ? { status: 404, body: { detail: 'Future not found' } }
          : { body: result };
      }
      case '/asample':
        return this.#future(this.#sample(body));
      default:
        return this.#ofModel(path, body);
    }
  }

  #ofModel(path: string, body: Body): Answer {
    const id = String(body.model_id);
    const model = this.#models.get(id);
    if (model === undefined) return { status: 404, body: { detail: 'Model not found' } };
    switch (path) {
      case '/forward':
        return this.#future(this.#pass(model, body.forward_input as Body, 'forward'));
      case '/forward_backward':
        return this.#future(this.#pass(model, body.forward_backward_input as Body, 'backward'));
      case '/optim_step':
        return this.#future({
          metrics: { 'skyrl.ai/grad_norm': this.#update(model, body.adam_params as Body) },
        });
      case '/unload_model':
        this.#models.delete(id);
        return this.#future({ type: 'unload_model' });
      case '/load_weights': {
        const saved = this.#saved.get(String(body.path));
        if (saved === undefined) return { status: 404, body: { detail: 'Checkpoint not found' } };
        Object.assign(model, structuredClone(saved));
        return this.#future({ type: 'load_weights' });
      }
      default: {
        const kind = path === '/save_weights' ? 'weights' : 'sampler_weights';
        const name = `tinker://${id}/${kind}/${String(body.path)}`;
        const kept = structuredClone(model);
        kept.gradient.fill(0);
        this.#saved.set(name, { ...kept, sequences: 0 });
        return this.#future({ path: name, type: path.slice(1) });
      }
    }
  }

  #future(result: unknown, more: object = {}): Answer {
    const request_id = this.#promise(result);
    return { body: { future_id: request_id, status: 'pending', request_id, ...more } };
  }

  /** An answer whose result is a failure. */
  failed(error: string): Answer {
    return { body: { request_id: this.#promise({ error, category: 'server' }) } };
  }

  #promise(result: unknown): string {
    const request_id = String(this.#futures.size + 1);
    this.#futures.set(request_id, result);
    return request_id;
  }

  #pass(model: Model, { data, loss_fn }: Body, direction: 'forward' | 'backward') {
    const loss_fn_outputs = (data as readonly Datum[]).map(({ model_input, loss_fn_inputs }) => {
      const tokens = model_input.chunks.flatMap((chunk) => chunk.tokens);
      const { target_tokens, weights, advantages, logprobs } = loss_fn_inputs;
      const rows = tokens.map((token) => logSoftmax(model.logits, token));
      const scores = rows.map((row, t) => row[target_tokens!.data[t]!]!);
      const mask = weights?.data ?? tokens.map(() => 1);
      const total = mask.reduce((a, b) => a + b, 0);
      const divisor = this.#reduction === 'sum' ? 1 : Math.max(total, 1e-9);
      model.sequences += direction === 'backward' ? 1 : 0;
      for (const [t, row] of direction === 'backward' ? rows.entries() : []) {
        const ratio = loss_fn === 'cross_entropy' ? 1 : Math.exp(scores[t]! - logprobs!.data[t]!);
        const slope = (-mask[t]! * ratio * (advantages?.data[t] ?? 1)) / divisor;
        for (const [v, logprob] of row.entries()) {
          const chosen = v === target_tokens!.data[t] ? 1 : 0;
          model.gradient[tokens[t]! * stubVocabulary + v]! += slope * (chosen - Math.exp(logprob));
        }
      }
      return { logprobs: { data: scores, dtype: 'float32', shape: [scores.length] } };
    });
    return { loss_fn_output_type: 'scalar', loss_fn_outputs, metrics: {} };
  }

  /** Adam. Returns the norm of the gradient. */
  #update(model: Model, { learning_rate, beta1, beta2, eps }: Body): number {
    const scale = this.#reduction === 'sum' ? 1 : 1 / Math.max(1, model.sequences);
    const gradient = model.gradient.map((g) => g * scale);
    const [b1, b2] = [Number(beta1), Number(beta2)];
    model.updates += 1;
    for (const [i, g] of gradient.entries()) {
      model.moment1[i] = b1 * model.moment1[i]! + (1 - b1) * g;
      model.moment2[i] = b2 * model.moment2[i]! + (1 - b2) * g * g;
      const m = model.moment1[i]! / (1 - b1 ** model.updates);
      const v = model.moment2[i]! / (1 - b2 ** model.updates);
      model.logits[i]! -= (Number(learning_rate) * m) / (Math.sqrt(v) + Number(eps));
    }
    model.gradient.fill(0);
    model.sequences = 0;
    return Math.hypot(...gradient);
  }

  #sample({ prompt, sampling_params, num_samples, model_path, prompt_logprobs: isScored }: Body) {
    const { logits } = model_path === undefined ? newModel() : this.#saved.get(String(model_path))!;
    const {
      max_tokens,
      seed,
      stop = [],
      temperature,
    } = sampling_params as {
      readonly max_tokens: number;
      readonly seed: number;
      readonly stop?: readonly number[];
      readonly temperature: number;
    };
    const given = (prompt as Datum['model_input']).chunks.flatMap(({ tokens }) => tokens);
    const start = given.at(-1)!;
    const sequences = Array.from({ length: Number(num_samples) }, (_, member) => {
      const random = RandomStream.named('stub', seed, member);
      const tokens: number[] = [];
      const logprobs: number[] = [];
      while (tokens.length < max_tokens && !stop.includes(tokens.at(-1) ?? -1)) {
        const row = logSoftmax(logits, tokens.at(-1) ?? start);
        let rest = random.uniform();
        let token = temperature === 0 ? row.indexOf(Math.max(...row)) : 0;
        while (temperature !== 0 && token < row.length - 1 && rest >= Math.exp(row[token]!)) {
          rest -= Math.exp(row[token++]!);
        }
        tokens.push(token);
        logprobs.push(row[token]!);
      }
      return { stop_reason: stop.includes(tokens.at(-1)!) ? 'stop' : 'length', tokens, logprobs };
    });
    const scores = given.map((token, t) => (t === 0 ? null : logSoftmax(logits, given[t - 1]!)[token]!));
    return { sequences, prompt_logprobs: isScored === true ? scores : null };
  }
}

function newModel(): Model {
  const random = RandomStream.named('stub model');
  const zeros = () => new Float64Array(stubVocabulary ** 2);
  const logits = zeros().map(() => 2 * random.uniform() - 1);
  return { logits, gradient: zeros(), moment1: zeros(), moment2: zeros(), sequences: 0, updates: 0 };
}

function logSoftmax(logits: Float64Array, token: number): number[] {
  const row = Array.from(logits.subarray(token * stubVocabulary, (token + 1) * stubVocabulary));
  const normalizer = Math.log(row.reduce((sum, logit) => sum + Math.exp(logit), 0));
  return row.map((logit) => logit - normalizer);
}
