import { ApiError } from '../api-error.ts';
import { Answered } from './answered.ts';
import { Checkpoints } from './checkpoints.ts';
import { Futures, type Repetition } from './futures.ts';
import { TrainedPolicy } from './policies.ts';
import { Samplers } from './samplers.ts';
import { Sessions } from './sessions.ts';
import type { TinkerTrainer } from './trainer.ts';
import { type RequestOf, type RequestPath, requestSchemas } from './wire.ts';

/** Settings of a {@link TinkerApi}. The options of `serveTinker` explain them. */
export interface TinkerApiSettings {
  readonly trainer: TinkerTrainer;
  readonly directory: string;
  readonly maxPolicies: number;
  readonly maxCalls: number;
  readonly waitMs: number;
  readonly callMs: number;
  readonly resultMs: number;
  readonly sessionMs: number;
  readonly clock: () => number;
  readonly now: () => Date;
  readonly onFailure: (error: unknown) => void;
}

/** A request, as far as the protocol reads it. */
export interface TinkerRequest {
  /** Path below `/api/v1`. */
  readonly path: string;
  readonly method: string;
  readonly body: unknown;
  /** Equal for attempts of one request. */
  readonly key: string | undefined;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}

type Answers = {
  readonly [Path in RequestPath]: (body: RequestOf<Path>, request: TinkerRequest) => object | Promise<object>;
};

/** Tinker's protocol over a {@link TinkerTrainer}, without HTTP. */
export class TinkerApi {
  readonly #settings: TinkerApiSettings;
  readonly #futures: Futures;
  readonly #sessions: Sessions;
  readonly #checkpoints: Checkpoints;
  readonly #samplers: Samplers;
  readonly #policies = new Map<string, TrainedPolicy>();
  /** Policies that get their names at the moment. */
  #named = 0;
  readonly #answered = new Answered();
  readonly #closing = new AbortController();

  constructor(settings: TinkerApiSettings) {
    this.#settings = settings;
    this.#futures = new Futures({ ...settings, onDropped: (id) => this.#answered.forget(id) });
    this.#sessions = new Sessions(settings);
    this.#checkpoints = new Checkpoints(settings.directory);
    this.#samplers = new Samplers(settings.trainer, this.#checkpoints);
  }

  /**
   * Answers a request with what becomes JSON.
   *
   * @throws `ApiError` with the status for the client.
   */
  async answer(request: TinkerRequest): Promise<object> {
    const { method, path } = request;
    if (this.#closing.signal.aborted) throw new ApiError(503, 'the server is stopping');
    if (method === 'POST' && Object.hasOwn(this.#posts, path))
      return this.#post(path as RequestPath, request);
    const found = await this.#look(method, path);
    if (found !== undefined) return found;
    throw new ApiError(404, `${method} /api/v1${path} is not served here`);
  }

  /** Refuses new requests, ends sampling and waits for the calls under way. */
  async close(): Promise<void> {
    this.#closing.abort(new ApiError(503, 'the server is stopping'));
    await this.#futures.idle();
    await Promise.all([...this.#policies.values()].map((policy) => policy.close()));
    await this.#samplers.close();
  }

  async #post<Path extends RequestPath>(path: Path, request: TinkerRequest): Promise<object> {
    const { data, error } = requestSchemas[path].safeParse(request.body);
    if (error !== undefined) {
      const said = error.issues.slice(0, 5).map((issue) => `${issue.path.join('.')}: ${issue.message}`);
      throw new ApiError(422, said.join('; '));
    }
    const answer = () =>
      (this.#posts[path] as (body: unknown, request: TinkerRequest) => object)(data, request);
    return path === '/retrieve_future' ? answer() : this.#answered.once(request.key, async () => answer());
  }

  readonly #posts: Answers = {
    '/create_session': () => ({ type: 'create_session', session_id: this.#sessions.open() }),
    '/session_heartbeat': ({ session_id }) => {
      this.#sessions.touch(session_id);
      return { type: 'session_heartbeat' };
    },
    '/create_model': (body) => this.#createModel(body),
    '/get_info': ({ model_id }) => this.#infoOf(this.#policy(model_id)),
    '/unload_model': ({ model_id }) => {
      const policy = this.#policy(model_id);
      this.#policies.delete(model_id);
      const unload = async () => {
        await policy.close();
        return { type: 'unload_model', model_id };
      };
      return { ...this.#future(unload), model_id };
    },
    '/forward': (body) => this.#train(body, (policy) => policy.forward(body.forward_input)),
    '/forward_backward': (body) =>
      this.#train(body, (policy) => policy.forwardBackward(body.forward_backward_input)),
    '/optim_step': (body) => this.#train(body, (policy) => policy.update(body.adam_params)),
    '/save_weights': (body) => this.#train(body, (policy) => policy.save(body.path)),
    '/load_weights': (body) =>
      this.#train(body, (policy) => policy.load(body.path, body.optimizer ? 'restored' : 'fresh')),
    '/save_weights_for_sampler': (body) =>
      this.#train(body, async (policy) => {
        const path = await policy.publish(body.path ?? undefined);
        const type = 'save_weights_for_sampler';
        if (body.path) return { path, type };
        return {
          path: null,
          sampling_session_id: this.#sessions.addSampling(policy.facts.baseModel, path),
          type,
        };
      }),
    '/create_sampling_session': async ({ session_id, base_model, model_path }) => {
      this.#sessions.touch(session_id);
      const path = await this.#weightsOf(base_model, model_path);
      const sampling_session_id = this.#sessions.addSampling(this.#settings.trainer.modelName, path);
      return { type: 'create_sampling_session', sampling_session_id };
    },
    '/asample': (body) => this.#sample(body),
    '/retrieve_future': ({ request_id }, { signal }) => this.#retrieve(request_id, signal),
    '/weights_info': async ({ tinker_path }) => {
      const { baseModel, rank } = await this.#checkpoints.find(tinker_path);
      return { base_model: baseModel, is_lora: rank > 0, lora_rank: rank > 0 ? rank : null };
    },
  };

  async #createModel({ session_id, base_model, lora_config }: RequestOf<'/create_model'>): Promise<object> {
    const { trainer, maxPolicies, now } = this.#settings;
    this.#sessions.touch(session_id);
    this.#requireServed(base_model);
    await this.#sweep();
    if (this.#policies.size + this.#named >= maxPolicies) {
      throw new ApiError(
        400,
        `this server trains ${maxPolicies} models at once; unload one, or raise maxPolicies`,
      );
    }
    this.#named += 1;
    const id = await this.#checkpoints.newPolicy().finally(() => {
      this.#named -= 1;
    });
    const { rank = 32, seed, train_attn = true, train_mlp = true } = lora_config ?? {};
    const created = trainer.createPolicy({
      ...{ name: id, rank, seed: seed ?? 0 },
      attention: train_attn ? 'trained' : 'frozen',
      mlp: train_mlp ? 'trained' : 'frozen',
    });
    const facts = { id, sessionId: session_id, baseModel: base_model, rank };
    const policy = new TrainedPolicy(facts, created, { checkpoints: this.#checkpoints, now });
    this.#policies.set(id, policy);
    const ready = async () => {
      try {
        await policy.ready();
      } catch (error) {
        this.#policies.delete(id);
        throw error;
      }
      return { type: 'create_model', model_id: id, base_model };
    };
    return { ...this.#future(ready), model_id: id };
  }

  /** Ends the policies of sessions that gave no sign of life. */
  async #sweep(): Promise<void> {
    const ended = this.#sessions.ended();
    for (const [id, policy] of this.#policies) {
      if (!ended.includes(policy.facts.sessionId)) continue;
      this.#policies.delete(id);
      await policy.close();
    }
  }

  #train(
    body: { readonly model_id: string; readonly seq_id?: number | null | undefined },
    work: (policy: TrainedPolicy) => Promise<object>,
  ): object {
    const policy = this.#policy(body.model_id);
    const start = () => this.#future(() => work(policy)).request_id;
    return this.#pending(policy.once(body.seq_id, body, start));
  }

  async #sample(body: RequestOf<'/asample'>): Promise<object> {
    const { sampling_session_id: session, base_model, model_path } = body;
    const path = session
      ? this.#sessions.sampling(session).modelPath
      : await this.#weightsOf(base_model, model_path);
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#settings.callMs)]);
    return this.#future(() => this.#samplers.sample(body, path, signal), 'possible');
  }

  async #retrieve(id: string, signal: AbortSignal): Promise<object> {
    const outcome = await this.#futures.retrieve(
      id,
      this.#settings.waitMs,
      AbortSignal.any([signal, this.#closing.signal]),
    );
    switch (outcome.state) {
      case 'done':
        return outcome.body;
      case 'working':
        throw new ApiError(408, 'not ready yet; ask again', { code: 'active' });
      case 'gone':
        throw new ApiError(410, `the result of ${id} was kept for ${this.#settings.resultMs} ms and is gone`);
      default:
        throw new ApiError(404, `Future not found: ${id}`);
    }
  }

  /** Requests without a body, and those whose body does not matter. */
  async #look(method: string, path: string): Promise<object | undefined> {
    const { modelName } = this.#settings.trainer;
    const [, section, id, ...rest] = path.split('/').map(decoded);
    switch (`${method} /${section}`) {
      case 'GET /healthz':
        return { status: 'ok' };
      case 'GET /get_server_capabilities':
        return { supported_models: [{ model_name: modelName }] };
      case 'POST /client':
        return { pjwt_auth_enabled: false, parallel_fwdbwd_chunks: false };
      case 'POST /telemetry':
        return { status: 'accepted' };
      case 'GET /samplers': {
        const { baseModel, modelPath } = this.#sessions.sampling(id ?? '');
        return { sampler_id: id, base_model: baseModel, model_path: modelPath ?? null };
      }
      case 'GET /training_runs':
      case 'GET /models':
        return rest[0] === 'checkpoints'
          ? { checkpoints: await this.#checkpoints.list(id ?? '') }
          : undefined;
      case 'DELETE /training_runs': {
        if (rest[0] !== 'checkpoints') return undefined;
        await this.#checkpoints.remove(`tinker://${id}/${rest[1]}/${rest[2]}`);
        return {};
      }
      default:
        return undefined;
    }
  }

  #infoOf({ facts: { id, baseModel, rank } }: TrainedPolicy): object {
    const { tokenizerId = baseModel } = this.#settings.trainer;
    return {
      ...{ type: 'get_info', model_id: id, status: 'ready', is_lora: rank > 0, lora_rank: rank },
      model_name: baseModel,
      model_data: {
        ...{ base_model: baseModel, model_name: baseModel, tokenizer_id: tokenizerId },
        lora_config: { rank },
      },
    };
  }

  #policy(id: string): TrainedPolicy {
    const policy = this.#policies.get(id);
    if (policy !== undefined) return policy;
    throw new ApiError(404, `Model not found: ${id}; create it again and load its last checkpoint`);
  }

  #requireServed(model: string): void {
    const { modelName } = this.#settings.trainer;
    if (model === modelName) return;
    throw new ApiError(400, `expected the model "${modelName}", got "${model}"`);
  }

  /** Path of weights that can be sampled with, or none for the first ones. */
  async #weightsOf(
    model: string | null | undefined,
    path: string | null | undefined,
  ): Promise<string | undefined> {
    if (path) {
      await this.#checkpoints.find(path, 'sampler_weights');
      return path;
    }
    if (!model) throw new ApiError(400, 'expected base_model, model_path or sampling_session_id, got none');
    this.#requireServed(model);
    return undefined;
  }

  #future(work: () => Promise<object>, repetition: Repetition = 'wrong') {
    const { maxCalls } = this.#settings;
    if (this.#futures.open >= maxCalls) {
      throw new ApiError(429, `${maxCalls} calls are under way; ask again later`, { retryAfterSeconds: 1 });
    }
    return this.#pending(this.#futures.start(work, repetition));
  }

  #pending(request_id: string) {
    return { future_id: request_id, request_id, status: 'pending' };
  }
}

/** A part of a path. One that is not encoded as a URL is taken as it is, and found nowhere. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
