import { pause, type TokenId, withSignals } from '@rlp/core';
import { type JsonClient, RequestError } from '@rlp/http/client';
import * as z from 'zod';
import { remedies, unusable } from '../remote/checked-sequences.ts';
import type { ResolvedRemoteOptions } from '../remote/options.ts';
import type {
  PublicationInFiles,
  RemoteAbilities,
  RemoteRequest,
  RemoteScores,
  RemoteSequence,
  RemoteServer,
  RemoteWeights,
} from '../remote/remote-server.ts';
import { adapterName, checkpointOf, isOfOthers, pathOnServer } from '../remote/weights-on-server.ts';

/** Logprob and token, and sometimes its text. The first token of a prompt has no logprob. */
const scoredToken = z.tuple([z.number().nullable(), z.int()], z.unknown());

const generateSchema = z.object({
  meta_info: z.object({
    output_token_logprobs: z.array(scoredToken).nullish(),
    input_token_logprobs: z.array(scoredToken).nullish(),
    finish_reason: z.object({ type: z.string(), message: z.string().nullish() }).nullish(),
    weight_version: z.string().nullish(),
  }),
});

const commandSchema = z.looseObject({ success: z.boolean().nullish(), message: z.string().nullish() });
const versionSchema = z.object({ weight_version: z.string().nullable() });

type Options = Pick<ResolvedRemoteOptions, 'updateTimeoutMs' | 'remotePath'> & { readonly root: string };

/** SGLang's routes. */
export class SglangServer implements RemoteServer {
  readonly name = 'SGLang';
  readonly temperatureRemedy = 'sample at 1, or start it without SGLANG_RETURN_ORIGINAL_LOGPROB';
  readonly client: JsonClient;
  readonly #options: Options;
  /** Completions of groups that are not complete, by their request. */
  readonly #kept = new WeakMap<
    RemoteRequest,
    { readonly weights: RemoteWeights; readonly sequences: RemoteSequence[] }
  >();
  /** Name of the checkpoint that was loaded last. */
  #loaded: string | undefined;
  #logprobs: RemoteAbilities['logprobs'] = 'at temperature 1, before filters';

  constructor(client: JsonClient, options: Options) {
    this.client = client;
    this.#options = options;
  }

  get abilities(): RemoteAbilities {
    return {
      ...{ accepts: ['adapter', 'checkpoint'], refusals: {}, logprobs: this.#logprobs },
      ...{ scoring: 'together', distributions: 'none' },
    };
  }

  /** Finds the temperature that its logprobs belong to. Tokens drawn at temperature 2 are scored again, which happens at 1. */
  async probe(token: TokenId, weights: RemoteWeights): Promise<void> {
    const request = { prompt: [token], count: 1, maxTokens: 8, temperature: 2, seed: 1 };
    const filters = { topK: 0, topP: 1, minP: 0, repetitionPenalty: 1, stopTokens: [], stopStrings: [] };
    const [sampled] = await this.generate({ ...request, ...filters }, weights, undefined);
    const tokens = [token, ...sampled!.tokens];
    const { logprobs } = await this.score(tokens, weights, { signal: undefined });
    const gaps = sampled!.logprobs.map((logprob, t) => Math.abs(logprob - (logprobs[t + 1] ?? 0)));
    if (Math.max(...gaps) > 1e-2) this.#logprobs = 'at the sampling temperature, before filters';
  }

  /**
   * Sends one request per completion, because a request has one seed. They share the prompt in the cache. Another attempt asks only for the
   * completions that are missing.
   */
  async generate(
    request: RemoteRequest,
    weights: RemoteWeights,
    signal: AbortSignal | undefined,
  ): Promise<readonly RemoteSequence[]> {
    const kept = this.#keptOf(request, weights);
    const stop = new AbortController();
    const asked = await withSignals([signal, stop.signal], (open) =>
      Promise.allSettled(
        Array.from({ length: request.count }, async (_, member) => {
          try {
            kept[member] ??= await this.#sequence(request, member, weights, open);
          } catch (error) {
            // No other attempt follows, so nothing of the group is worth waiting for.
            if (!isRepeated(error)) stop.abort(error);
            throw error;
          }
        }),
      ),
    );
    const failed = asked.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw stop.signal.aborted ? stop.signal.reason : failed.reason;
    this.#kept.delete(request);
    return kept;
  }

  /** Completions of earlier attempts by the same weights. */
  #keptOf(request: RemoteRequest, weights: RemoteWeights): RemoteSequence[] {
    const known = this.#kept.get(request);
    if (known?.weights === weights) return known.sequences;
    const sequences: RemoteSequence[] = [];
    this.#kept.set(request, { weights, sequences });
    return sequences;
  }

  async #sequence(
    request: RemoteRequest,
    member: number,
    weights: RemoteWeights,
    signal: AbortSignal,
  ): Promise<RemoteSequence> {
    const { maxTokens, temperature, topP, topK, minP, repetitionPenalty } = request;
    const sampling_params = {
      ...{ max_new_tokens: maxTokens, temperature, top_p: topP, min_p: minP, top_k: topK || -1 },
      ...{ repetition_penalty: repetitionPenalty, skip_special_tokens: false, no_stop_trim: true },
      ...(request.stopTokens.length > 0 && { stop_token_ids: request.stopTokens }),
      ...(request.stopStrings.length > 0 && { stop: request.stopStrings }),
      sampling_seed: (request.seed + member) % 2 ** 31,
    };
    const { output_token_logprobs: scored, finish_reason } = await this.#generate(
      ...([request.prompt, { sampling_params }, weights, signal] as const),
    );
    if (!scored) throw unusable(this.client, 'expected output_token_logprobs, got none', remedies.logprobs);
    return {
      tokens: scored.map(([, token]) => token),
      logprobs: scored.map(([logprob]) => logprob ?? Number.NaN),
      finish: finish_reason?.type,
    };
  }

  async score(
    tokens: readonly TokenId[],
    weights: RemoteWeights,
    { signal }: Pick<Parameters<RemoteServer['score']>[2], 'signal'>,
  ): Promise<RemoteScores> {
    const sampling_params = { max_new_tokens: 0, temperature: 1 };
    const options = { sampling_params, logprob_start_len: 0 };
    const { input_token_logprobs: scored } = await this.#generate(tokens, options, weights, signal);
    if (scored?.some(([, token], t) => token !== tokens[t])) {
      throw unusable(this.client, 'the server scored other tokens than were sent', remedies.tokens);
    }
    return { logprobs: (scored ?? []).map(([logprob]) => logprob ?? undefined) };
  }

  async #generate(
    tokens: readonly TokenId[],
    options: object,
    weights: RemoteWeights,
    signal: AbortSignal | undefined,
  ) {
    const { model, version, publication } = weights;
    const adapter = publication?.kind === 'adapter' ? { lora_path: model } : {};
    const body = { input_ids: tokens, return_logprob: true, stream: false, ...options, ...adapter };
    const answer = await this.client.json('/generate', { body, attempts: 1, signal });
    const { data } = generateSchema.safeParse(answer);
    if (data === undefined) throw this.client.unexpected('meta_info', answer);
    const { weight_version: found, finish_reason } = data.meta_info;
    if (finish_reason?.type === 'abort') {
      const reason = this.client.quoted(finish_reason.message ?? 'no reason');
      throw unusable(
        this.client,
        `the server gave up the request: ${reason}`,
        'sample less at once, or see the log of the server',
      );
    }
    if (found && isOfOthers(found, weights, this.#loaded)) {
      throw unusable(this.client, `expected weights of version ${version}, got "${found}"`, remedies.weights);
    }
    return data.meta_info;
  }

  async take(
    publication: PublicationInFiles,
    current: RemoteWeights,
    signal: AbortSignal | undefined,
  ): Promise<RemoteWeights> {
    const path = pathOnServer(publication.path, this.#options.remotePath);
    const { version } = publication;
    if (publication.kind === 'adapter') {
      const model = adapterName(version, path);
      await this.#command('/load_lora_adapter', { lora_name: model, lora_path: path }, signal);
      return { version, model, publication };
    }
    await this.#command('/pause_generation', {}, signal);
    try {
      await this.#flush(signal);
      this.#loaded = String(version);
      await this.#load(path, String(version), signal);
    } catch (error) {
      await this.#load(...checkpointOf(current, this.#options), undefined);
      throw error;
    } finally {
      await this.#command('/continue_generation', {}, undefined);
    }
    return { version, model: '', publication };
  }

  #load(path: string, version: string, signal: AbortSignal | undefined): Promise<void> {
    const body = { model_path: path, weight_version: version, abort_all_requests: true };
    return this.#command('/update_weights_from_disk', body, signal);
  }

  /** Empties the cache, which the server refuses while requests run. */
  async #flush(signal: AbortSignal | undefined): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.client.text('/flush_cache', { attempts: 1, signal });
        return;
      } catch (error) {
        if (!(error instanceof RequestError) || error.status === undefined || attempt >= 60) throw error;
        await pause(500, signal);
      }
    }
  }

  async confirm({ version, publication }: RemoteWeights, signal: AbortSignal | undefined) {
    if (publication?.kind !== 'checkpoint') return 'held' as const;
    const { data } = versionSchema.safeParse(await this.client.json('/get_weight_version', { signal }));
    return data?.weight_version === String(version) ? ('held' as const) : ('lost' as const);
  }

  async release({ model, publication }: RemoteWeights): Promise<void> {
    if (publication?.kind !== 'adapter') return;
    await this.#command('/unload_lora_adapter', { lora_name: model }, undefined);
  }

  /** A command, which may report its failure with status 200. */
  async #command(path: string, body: object, signal: AbortSignal | undefined): Promise<void> {
    const { updateTimeoutMs: timeoutMs } = this.#options;
    const text = await this.client.text(path, { body, timeoutMs, signal });
    const { data } = commandSchema.safeParse(text.startsWith('{') ? JSON.parse(text) : {});
    if (data?.success === false) {
      const reason = this.client.quoted(data.message ?? 'it failed');
      throw unusable({ place: `${this.client.place}${path}` }, reason, 'see the log of the server');
    }
  }
}

/** Whether the request is sent again after an error. */
function isRepeated(error: unknown): boolean {
  return error instanceof RequestError && (error.isPassing || error.failure === 'malformed');
}
