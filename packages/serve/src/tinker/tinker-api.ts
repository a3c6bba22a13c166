import { ApiError } from '../api-error.ts';
import { Answered } from './answered.ts';
import { Checkpoints } from './checkpoints.ts';
import { Futures, type Repetition } from './futures.ts';
import type { TrainedPolicy } from './policies.ts';
import { PolicyRegister } from './policy-register.ts';
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
  readonly #policies: PolicyRegister;
  readonly #answered = new Answered();
  readonly #closing = new AbortController();

  constructor(settings: TinkerApiSettings) {
    this.#settings = settings;
    this.#futures = new Futures({ ...settings, onDropped: (id) => this.#answered.forget(id) });
    this.#sessions = new Sessions(settings);
    this.#checkpoints = new Checkpoints(settings.directory);
    this.#samplers = new Samplers(settings.trainer, this.#checkpoints);
    this.#policies = new PolicyRegister({
      ...settings,
      sessions: this.#sessions,
      checkpoints: this.#checkpoints,
    });
  }

  /**
   * Answers a request with what becomes JSON.
   *
   * @throws ApiError with the status for the client.
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
    await this.#policies.close();
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
    '/get_info': ({ model_id }) => this.#infoOf(this.#policies.get(model_id)),
    '/unload_model': ({ model_id }) => {
      const policy = this.#policies.get(model_id);
      this.#policies.remove(policy);
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
    '/load_weights': ({ model_id, ...body }) => {
      const optimizer = body.optimizer ? 'restored' : 'fresh';
      if (model_id) return this.#train({ ...body, model_id }, (policy) => policy.load(body.path, optimizer));
      return this.#createFrom(body, optimizer);
    },
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
      const { baseModel, rank, attention, mlp } = await this.#checkpoints.find(tinker_path);
      const of = { base_model: baseModel, is_lora: rank > 0, lora_rank: rank > 0 ? rank : null };
      return {
        ...of,
        train_attn: attention === 'trained',
        train_mlp: mlp === 'trained',
        train_unembed: false,
      };
    },
  };

  async #createModel({ session_id, base_model, lora_config }: RequestOf<'/create_model'>): Promise<object> {
    this.#requireServed(base_model);
    const { rank = 32, seed, train_attn = true, train_mlp = true } = lora_config ?? {};
    const policy = await this.#policies.create({
      ...{ sessionId: session_id, rank, seed: seed ?? 0 },
      attention: train_attn ? 'trained' : 'frozen',
      mlp: train_mlp ? 'trained' : 'frozen',
    });
    const model_id = policy.facts.id;
    const ready = this.#made(policy, async () => ({ type: 'create_model', model_id, base_model }));
    return { ...ready, model_id };
  }

  /** A model that begins as a checkpoint. The client knows its name from the session and the number. */
  async #createFrom(
    { session_id, model_seq_id, base_model, path }: Omit<RequestOf<'/load_weights'>, 'model_id'>,
    optimizer: 'restored' | 'fresh',
  ): Promise<object> {
    const { baseModel, rank, attention, mlp } = await this.#checkpoints.find(path, 'weights');
    this.#requireServed(base_model ?? baseModel);
    const alias = `${session_id}:train:${model_seq_id}`;
    if (this.#policies.find(alias) !== undefined) {
      throw new ApiError(409, `${alias} was created before; send the next model_seq_id`);
    }
    const wanted = { sessionId: session_id ?? '', alias, rank, seed: 0, attention, mlp };
    const policy = await this.#policies.create(wanted);
    return this.#made(policy, () => policy.load(path, optimizer));
  }

  /** The call that makes a policy. One that fails leaves no policy. */
  #made(policy: TrainedPolicy, then: () => Promise<object>) {
    return this.#future(async () => {
      try {
        await policy.ready();
        return await then();
      } catch (error) {
        this.#policies.remove(policy);
        await policy.close();
        throw error;
      }
    });
  }

  #train(
    body: { readonly model_id: string; readonly seq_id?: number | null | undefined },
    work: (policy: TrainedPolicy) => Promise<object>,
  ): object {
    const policy = this.#policies.get(body.model_id);
    const start = () => this.#future(() => work(policy)).request_id;
    return this.#pending(policy.once(body.seq_id, body, start));
  }

  async #sample(body: RequestOf<'/asample'>): Promise<object> {
    const { sampling_session_id: session, base_model, model_path } = body;
    const path = session
      ? this.#sessions.sampling(session).modelPath
      : await this.#weightsOf(base_model, model_path);
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#settings.callMs)]);
    const promise = this.#future(() => this.#samplers.sample(body, path, signal), 'possible');
    const names = Array.from({ length: body.num_samples }, (_, index) => `${promise.request_id}:${index}`);
    return { ...promise, sample_sequence_ids: names };
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
