import type { TokenId } from '@rlp/core';
import { type JsonClient, RequestError } from '@rlp/http/client';
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
import {
  completionsSchema,
  generateSchema,
  modelsSchema,
  promptLogprobs,
  type VllmRoute,
  weightInfoSchema,
} from './wire.ts';

/** Results of a probe. */
export interface VllmFacts {
  readonly abilities: RemoteAbilities;
  readonly route: VllmRoute;
  /** Name of the model, and where the server read it. */
  readonly model: string;
  readonly root: string;
}

type Options = VllmFacts & Pick<ResolvedRemoteOptions, 'updateTimeoutMs' | 'remotePath'>;

/** vLLM's routes. */
export class VllmServer implements RemoteServer {
  readonly name = 'vLLM';
  readonly temperatureRemedy =
    'sample at 1, or start it with --logprobs-mode processed_logprobs and sample without filters';
  readonly client: JsonClient;
  readonly #options: Options;
  /** Versions of the directories that were loaded as checkpoints. vLLM may keep files that are replaced in place. */
  readonly #loaded = new Map<string, number>();
  /** Name of the checkpoint that was loaded last. */
  #latest: string | undefined;

  constructor(client: JsonClient, options: Options) {
    this.client = client;
    this.#options = options;
  }

  get abilities(): RemoteAbilities {
    return this.#options.abilities;
  }

  async generate(
    request: RemoteRequest,
    weights: RemoteWeights,
    signal: AbortSignal | undefined,
  ): Promise<readonly RemoteSequence[]> {
    return this.#options.route === 'generate'
      ? this.#generate(request, weights, signal)
      : this.#complete(request, weights, signal);
  }

  async #generate(
    request: RemoteRequest,
    weights: RemoteWeights,
    signal: AbortSignal | undefined,
  ): Promise<readonly RemoteSequence[]> {
    const { model, version } = weights;
    const body = {
      ...{ model, token_ids: request.prompt, cache_salt: `weights ${version}` },
      sampling_params: { ...samplingOf(request), logprobs: 0, detokenize: request.stopStrings.length > 0 },
    };
    const answer = await this.client.json('/inference/v1/generate', { body, attempts: 1, signal });
    const { data } = generateSchema.safeParse(answer);
    if (data === undefined) throw this.client.unexpected('choices with token_ids', answer);
    for (const { weight_versions: found } of data.choices) {
      const other = found?.find(({ version: name }) => isOfOthers(name, weights, this.#latest));
      if (other === undefined) continue;
      throw unusable(
        this.client,
        `expected weights of version ${version}, got "${other.version}"`,
        remedies.weights,
      );
    }
    return this.#inOrder(data.choices).map(({ token_ids, logprobs, finish_reason }) => ({
      tokens: token_ids ?? [],
      logprobs: logprobs?.content?.map(({ logprob }) => logprob) ?? [],
      finish: finish_reason,
    }));
  }

  async #complete(
    request: RemoteRequest,
    { model, version }: RemoteWeights,
    signal: AbortSignal | undefined,
  ): Promise<readonly RemoteSequence[]> {
    const body = {
      ...{ model, prompt: request.prompt, cache_salt: `weights ${version}` },
      ...{ ...samplingOf(request), logprobs: 0, return_token_ids: true },
    };
    const answer = await this.client.json('/v1/completions', { body, attempts: 1, signal });
    const { data } = completionsSchema.safeParse(answer);
    if (data === undefined) throw this.client.unexpected('choices with token_ids', answer);
    if (data.model !== undefined && data.model !== null && data.model !== model) {
      throw unusable(
        this.client,
        `expected model "${model}", got "${data.model}"`,
        'check that nothing between here and the server chooses the model',
      );
    }
    for (const { prompt_token_ids: echoed } of data.choices) {
      if (!echoed || sameTokens(echoed, request.prompt)) continue;
      throw unusable(
        this.client,
        'the server sampled from other prompt tokens than were sent',
        remedies.tokens,
      );
    }
    return this.#inOrder(data.choices).map(({ token_ids, logprobs, finish_reason }) => ({
      tokens: token_ids,
      logprobs: (logprobs?.token_logprobs ?? []).map((logprob) => logprob ?? Number.NaN),
      finish: finish_reason,
    }));
  }

  async score(
    tokens: readonly TokenId[],
    { model, version }: RemoteWeights,
    { distributions, signal }: Parameters<RemoteServer['score']>[2],
  ): Promise<RemoteScores> {
    const body = {
      ...{ model, prompt: tokens, max_tokens: 1, temperature: 1, cache_salt: `weights ${version}` },
      ...{ prompt_logprobs: distributions === 'whole' ? -1 : 0, return_token_ids: true },
    };
    const answer = await this.client.json('/v1/completions', { body, attempts: 1, signal });
    const { data } = completionsSchema.safeParse(answer);
    const found = data?.choices[0]?.prompt_logprobs;
    if (!found) throw this.client.unexpected('prompt_logprobs', answer);
    return promptLogprobs(found, tokens, distributions);
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
      await this.#loadAdapter(model, path, signal);
      return { version, model, publication };
    }
    const earlier = this.#loaded.get(path);
    if (earlier !== undefined && earlier !== version) {
      throw unusable(
        this.client,
        `${path} held version ${earlier} already, and vLLM may keep files that are replaced in place`,
        'write each version to its own directory',
      );
    }
    await this.#loadCheckpoint(path, version, current, signal);
    this.#loaded.set(path, version);
    return { version, model: this.#options.model, publication };
  }

  async #loadAdapter(name: string, path: string, signal: AbortSignal | undefined): Promise<void> {
    const load = () => this.#command('/v1/load_lora_adapter', { lora_name: name, lora_path: path }, signal);
    try {
      await load();
    } catch (error) {
      // An earlier run left an adapter of this name, which may have been another.
      if (!(error instanceof RequestError) || !/already been loaded/.test(error.detail ?? '')) throw error;
      await this.#command('/v1/unload_lora_adapter', { lora_name: name }, signal);
      await load();
    }
  }

  /** Stops the server's scheduler, reloads, names the weights and starts it again. If that fails, it restarts with the old weights. */
  async #loadCheckpoint(
    path: string,
    version: number,
    current: RemoteWeights,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    await this.#command('/pause?mode=wait&clear_cache=true', {}, signal);
    try {
      this.#latest = String(version);
      await this.#reload(path, this.#latest, signal);
    } catch (error) {
      await this.#reload(...checkpointOf(current, this.#options), undefined);
      throw error;
    } finally {
      await this.#command('/resume', {}, undefined);
    }
  }

  async #reload(path: string, version: string, signal: AbortSignal | undefined): Promise<void> {
    const body = { method: 'reload_weights', kwargs: { weights_path: path } };
    await this.#command('/collective_rpc', body, signal);
    await this.#command('/update_weight_version', { new_version: version }, signal);
  }

  async confirm({ model, version, publication }: RemoteWeights, signal: AbortSignal | undefined) {
    if (publication?.kind === 'checkpoint') {
      const { data } = weightInfoSchema.safeParse(await this.client.json('/weight_info', { signal }));
      return data?.weight_version === String(version) ? ('held' as const) : ('lost' as const);
    }
    const { data } = modelsSchema.safeParse(await this.client.json('/v1/models', { signal }));
    return data?.data.some(({ id }) => id === model) ? ('held' as const) : ('lost' as const);
  }

  async release({ model, publication }: RemoteWeights): Promise<void> {
    if (publication?.kind !== 'adapter') return;
    await this.#command('/v1/unload_lora_adapter', { lora_name: model }, undefined);
  }

  /** Members of a group in order. A repeated index means that a member is missing. */
  #inOrder<Choice extends { readonly index: number }>(choices: readonly Choice[]): readonly Choice[] {
    const ordered = choices.toSorted((a, b) => a.index - b.index);
    const wrong = ordered.findIndex(({ index }, place) => index !== place);
    if (wrong < 0) return ordered;
    const indexes = choices.map(({ index }) => index).join(', ');
    const problem = `expected choices with the indexes 0 to ${choices.length - 1}, got ${indexes}`;
    throw unusable(this.client, problem, remedies.protocol);
  }

  #command(path: string, body: object, signal: AbortSignal | undefined): Promise<string> {
    const { updateTimeoutMs: timeoutMs } = this.#options;
    return this.client.text(path, { body, timeoutMs, signal });
  }
}

/** Sampling options under vLLM's names. */
function samplingOf(request: RemoteRequest): object {
  const { maxTokens, temperature, topP, topK, minP, repetitionPenalty, stopTokens, stopStrings } = request;
  return {
    ...{ n: request.count, seed: request.seed, max_tokens: maxTokens, temperature },
    ...{ top_p: topP, top_k: topK, min_p: minP, repetition_penalty: repetitionPenalty },
    ...(stopTokens.length > 0 && { stop_token_ids: stopTokens }),
    ...(stopStrings.length > 0 && { stop: stopStrings }),
  };
}

function sameTokens(a: readonly TokenId[], b: readonly TokenId[]): boolean {
  return a.length === b.length && a.every((token, index) => token === b[index]);
}
