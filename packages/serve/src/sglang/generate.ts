import type { TokenId } from '@rlp/core';
import * as z from 'zod';
import type { Answerer, Answering } from '../answer/answerer.ts';
import type { AnswerChoice, AnswerRequest, AnswerToken } from '../answer/request.ts';
import type { ScoredPlace } from '../answer/score-prompt.ts';
import { ApiError } from '../api-error.ts';
import { eventStream, type StreamEvent } from '../event-stream.ts';
import { openaiFailure } from '../openai/errors.ts';
import { drawOf, samplingFields, samplingOf } from '../openai/sampling.ts';
import { answerJson, readJson, type ServeApp, signalOf } from '../routes.ts';
import { RunningRequests } from './running.ts';

const tokensSchema = z.array(z.int().nonnegative());

const samplingSchema = z.looseObject({
  ...samplingFields,
  max_new_tokens: z.int().min(0).nullish(),
  sampling_seed: z.int().nullish(),
});

const bodySchema = z.looseObject({
  text: z.union([z.string(), z.array(z.string()).min(1)]).nullish(),
  input_ids: z.union([tokensSchema, z.array(tokensSchema).min(1)]).nullish(),
  sampling_params: z.union([samplingSchema, z.array(samplingSchema).min(1)]).nullish(),
  return_logprob: z.union([z.boolean(), z.array(z.boolean())]).nullish(),
  logprob_start_len: z.int().min(-1).nullish(),
  top_logprobs_num: z.int().min(0).max(20).nullish(),
  lora_path: z.string().nullish(),
  rid: z.string().nullish(),
  stream: z.boolean().nullish(),
});

type Body = z.output<typeof bodySchema>;
type Sampling = z.output<typeof samplingSchema>;

/** One prompt of a request. */
interface Part {
  readonly prompt: string | readonly TokenId[];
  readonly sampling: Sampling;
}

/** Adds `/generate` and `/abort_request`. */
export function addGenerateRoute(app: ServeApp): void {
  const running = new RunningRequests();
  app.on(['POST', 'PUT'], '/generate', async (context) => {
    const body = await readJson(context, bodySchema);
    const parts = partsOf(body);
    const task = running.open(body.rid ?? '', signalOf(context));
    const generator = new Generator(body, context.get('answerer'), task.signal);
    if (body.stream === true) {
      if (parts.length > 1) throw new ApiError(400, 'stream: expected one prompt with it');
      return eventStream(context, generator.events(parts[0]!, task.close), openaiFailure);
    }
    try {
      const results = await Promise.all(parts.map((part) => generator.whole(part)));
      const isList = parts.length > 1 || isListed(body);
      return answerJson(context, isList || results[0]!.length > 1 ? results.flat() : results[0]![0]!);
    } catch (error) {
      if (!task.wasAborted) throw error;
      return context.json(abortedResult());
    } finally {
      task.close();
    }
  });
  app.post('/abort_request', async (context) => {
    const { rid, abort_all } = await readJson(
      context,
      z.looseObject({ rid: z.string().nullish(), abort_all: z.boolean().nullish() }),
    );
    running.abort(abort_all === true ? '' : (rid ?? ''));
    return context.body(null, 200);
  });
}

function isListed({ text, input_ids: ids }: Body): boolean {
  return Array.isArray(text) || Array.isArray(ids?.[0]);
}

function partsOf({ text, input_ids: ids, sampling_params: given }: Body): readonly Part[] {
  if ((text == null) === (ids == null)) throw new ApiError(400, 'expected text or input_ids, one of them');
  const listed: Part['prompt'][] =
    text != null ? [text].flat() : Array.isArray(ids![0]) ? (ids as TokenId[][]) : [ids as TokenId[]];
  const sampling = Array.isArray(given) ? given : listed.map(() => given ?? {});
  if (sampling.length !== listed.length) {
    throw new ApiError(400, `sampling_params: expected ${listed.length}, one for each prompt`);
  }
  return listed.map((prompt, index) => ({ prompt, sampling: sampling[index]! }));
}

/** Result of a request that was given up. */
function abortedResult(): object {
  const finish_reason = { type: 'abort', message: 'aborted by the client' };
  return { text: '', output_ids: [], meta_info: { finish_reason, completion_tokens: 0 } };
}

/** Answers one request in SGLang's words. */
class Generator {
  readonly #body: Body;
  readonly #answerer: Answerer;
  readonly #signal: AbortSignal;

  constructor(body: Body, answerer: Answerer, signal: AbortSignal) {
    this.#body = body;
    this.#answerer = answerer;
    this.#signal = signal;
  }

  async whole(part: Part): Promise<readonly object[]> {
    const scored = await this.#inputLogprobs(part.prompt);
    if (part.sampling.max_new_tokens === 0) {
      const nothing: AnswerChoice = { text: '', calls: [], finish: 'length', tokens: [] };
      const promptTokens = this.#tokensOf(part.prompt);
      return [this.#result(nothing, { promptTokens, version: this.#answerer.weights.label, scored })];
    }
    const answer = await this.#answerer.answer(this.#requestOf(part), this.#signal);
    const version = this.#answerer.weights.labelOf(answer.policyVersion);
    const { promptTokens } = answer;
    return answer.choices.map((choice) => this.#result(choice, { promptTokens, version, scored }));
  }

  /** Each event holds all of the answer so far, as SGLang sends it. */
  async *events(part: Part, done: () => void): AsyncGenerator<StreamEvent, void, undefined> {
    try {
      const scored = await this.#inputLogprobs(part.prompt);
      const answering: Answering = await this.#answerer.begin(this.#requestOf(part), {
        ...{ signal: this.#signal, pieces: 'wanted' },
      });
      const { promptTokens } = answering.request;
      const version = this.#answerer.weights.label;
      let text = '';
      let tokens: readonly AnswerToken[] = [];
      for await (const piece of answering.pieces) {
        tokens = [...tokens, ...piece.tokens];
        if (piece.type === 'text') text += piece.text;
        const finish = piece.type === 'end' ? piece.choice : undefined;
        const so = { text, tokens, calls: [], finish: finish?.finish, stopString: finish?.stopString };
        yield { data: this.#result(so, { promptTokens, version, scored }) };
      }
      yield { data: '[DONE]' };
    } finally {
      done();
    }
  }

  #requestOf({ prompt, sampling }: Part): AnswerRequest {
    const { top_logprobs_num: top, lora_path: adapter } = this.#body;
    const { max_new_tokens: most, sampling_seed: seed } = sampling;
    return {
      ...{ model: adapter ?? undefined, prompt, ...drawOf({ ...sampling, seed: seed ?? sampling.seed }) },
      // SGLang's default.
      sampling: samplingOf(sampling, most ?? 128),
      topLogprobs: this.#wantsLogprobs() ? (top ?? 0) : 0,
    };
  }

  #tokensOf(prompt: Part['prompt']): readonly TokenId[] {
    return typeof prompt === 'string' ? this.#answerer.policy.tokenizer.encode(prompt) : prompt;
  }

  #wantsLogprobs(): boolean {
    return [this.#body.return_logprob ?? false].flat().includes(true);
  }

  async #inputLogprobs(prompt: Part['prompt']): Promise<readonly (ScoredPlace | null)[] | undefined> {
    const { logprob_start_len: start, lora_path: adapter } = this.#body;
    if (!this.#wantsLogprobs() || start == null || start < 0) return undefined;
    const tokens = this.#tokensOf(prompt);
    const scoring = { model: adapter ?? undefined, tokens, likely: 0 };
    return (await this.#answerer.score(scoring, this.#signal)).slice(start);
  }

  #result(
    choice: Omit<AnswerChoice, 'finish'> & { readonly finish: AnswerChoice['finish'] | undefined },
    {
      promptTokens,
      version,
      scored,
    }: {
      readonly promptTokens: readonly TokenId[];
      readonly version: string;
      readonly scored: readonly (ScoredPlace | null)[] | undefined;
    },
  ): object {
    const { text, tokens, finish, stopString } = choice;
    const reason = {
      stop: { type: 'stop', matched: stopString ?? tokens.at(-1)?.token ?? null },
      length: { type: 'length', length: tokens.length },
      tool_calls: { type: 'stop', matched: null },
    };
    const first = promptTokens.length - (scored?.length ?? 0);
    return {
      ...{ text, output_ids: tokens.map(({ token }) => token) },
      meta_info: {
        ...{ id: this.#body.rid ?? null, finish_reason: finish === undefined ? null : reason[finish] },
        ...{ prompt_tokens: promptTokens.length, completion_tokens: tokens.length, cached_tokens: 0 },
        ...{ weight_version: version, ...(this.#wantsLogprobs() && this.#outputLogprobs(tokens)) },
        ...(scored && {
          input_token_logprobs: scored.map((place, t) => [
            place?.logprob ?? null,
            promptTokens[first + t]!,
            null,
          ]),
        }),
      },
    };
  }

  #outputLogprobs(tokens: readonly AnswerToken[]): object {
    const row = ({ token, logprob }: AnswerToken) => [logprob, token, null];
    const tops = tokens.map(({ top }) => (top ? top.map(row) : null));
    return {
      output_token_logprobs: tokens.map(row),
      ...(this.#body.top_logprobs_num && { output_top_logprobs: tops }),
    };
  }
}
