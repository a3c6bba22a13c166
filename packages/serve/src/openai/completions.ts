import type { TokenId, Tokenizer } from '@rlp/core';
import * as z from 'zod';
import type { Answering } from '../answer/answerer.ts';
import type { AnswerChoice, AnswerPiece, AnswerToken } from '../answer/request.ts';
import type { ScoredPlace } from '../answer/score-prompt.ts';
import { ApiError } from '../api-error.ts';
import { eventStream, type StreamEvent } from '../event-stream.ts';
import { answerJson, readJson, type ServeApp, type ServeContext, secondsNow, signalOf } from '../routes.ts';
import { openaiFailure } from './errors.ts';
import { promptLogprobsOf } from './prompt-logprobs.ts';
import { drawOf, samplingFields, samplingOf } from './sampling.ts';
import { tokenText } from './token-text.ts';
import { usageOf } from './usage.ts';

const tokensSchema = z.array(z.int().nonnegative());

const bodySchema = z.looseObject({
  ...samplingFields,
  model: z.string().nullish(),
  prompt: z.union([z.string(), tokensSchema, z.array(z.string()).min(1), z.array(tokensSchema).min(1)]),
  max_tokens: z.int().min(0).nullish(),
  logprobs: z.int().min(0).max(20).nullish(),
  prompt_logprobs: z.int().min(-1).nullish(),
  echo: z.boolean().nullish(),
  suffix: z.literal('', 'is not supported; leave it out').nullish(),
  best_of: z.int().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  return_token_ids: z.boolean().nullish(),
  return_tokens_as_token_ids: z.boolean().nullish(),
});

type Body = z.output<typeof bodySchema>;

/** Adds `/v1/completions`. */
export function addCompletionRoutes(app: ServeApp): void {
  app.post('/v1/completions', async (context) => {
    const body = await readJson(context, bodySchema);
    requireAble(body);
    const prompts = promptsOf(body.prompt);
    const writer = new CompletionWriter(body, context);
    if (body.max_tokens === 0) return context.json(await writer.scores(prompts));
    const answerings = await begun(body, prompts, context);
    if (body.stream === true) return eventStream(context, writer.events(answerings), openaiFailure);
    return answerJson(context, await writer.whole(answerings));
  });
}

function requireAble({ n, best_of, stream, echo, max_tokens }: Body): void {
  if ((best_of ?? n ?? 1) !== (n ?? 1)) throw new ApiError(400, 'best_of: expected as many as n');
  if (stream === true && echo === true) throw new ApiError(400, 'echo: expected no stream with it');
  if (max_tokens === 0 && echo !== true) throw new ApiError(400, 'max_tokens: expected at least 1, or echo');
}

function promptsOf(prompt: Body['prompt']): readonly (string | readonly TokenId[])[] {
  if (typeof prompt === 'string') return [prompt];
  const isTokens = (list: Body['prompt']): list is TokenId[] =>
    typeof list[0] === 'number' || list.length === 0;
  return isTokens(prompt) ? [prompt] : (prompt as string[] | TokenId[][]);
}

/** Starts the answers to all prompts, or none. */
async function begun(
  body: Body,
  prompts: readonly (string | readonly TokenId[])[],
  context: ServeContext,
): Promise<readonly Answering[]> {
  const answerer = context.get('answerer');
  const { seed, ...draw } = drawOf(body);
  const stop = new AbortController();
  const signal = AbortSignal.any([signalOf(context), stop.signal]);
  const started = await Promise.allSettled(
    prompts.map((prompt, index) => {
      const own = prompts.length === 1 || seed === undefined ? seed : `${seed}/${index}`;
      const request = {
        ...{ model: body.model ?? undefined, prompt, ...draw, seed: own },
        // OpenAI's default.
        sampling: samplingOf(body, body.max_tokens ?? 16),
        topLogprobs: body.logprobs ?? 0,
      };
      return answerer.begin(request, { signal, pieces: body.stream === true ? 'wanted' : 'none' });
    }),
  );
  const failed = started.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    stop.abort(failed.reason);
    throw failed.reason;
  }
  return started.map((result) => (result as PromiseFulfilledResult<Answering>).value);
}

/** Words completions as OpenAI's older API does, with vLLM's fields for tokens. */
class CompletionWriter {
  readonly #body: Body;
  readonly #context: ServeContext;
  readonly #tokenizer: Tokenizer;

  constructor(body: Body, context: ServeContext) {
    this.#body = body;
    this.#context = context;
    this.#tokenizer = context.get('answerer').policy.tokenizer;
  }

  async whole(answerings: readonly Answering[]): Promise<object> {
    const answers = await Promise.all(answerings.map(({ answer }) => answer));
    const scored = await Promise.all(answers.map(({ promptTokens }) => this.#scored(promptTokens)));
    const choices = answers.flatMap(({ promptTokens, choices: made }, prompt) =>
      made.map((choice, member) =>
        this.#choice(choice, prompt * made.length + member, { promptTokens, places: scored[prompt] }),
      ),
    );
    const usages = answers.map(usageOf);
    return { ...this.#head(answerings[0]!.request), choices, usage: sumOf(usages) };
  }

  /** Only the prompts, with their logprobs. */
  async scores(prompts: readonly (string | readonly TokenId[])[]): Promise<object> {
    const tokens = prompts.map((prompt) =>
      typeof prompt === 'string' ? this.#tokenizer.encode(prompt) : prompt,
    );
    const none: AnswerChoice = { text: '', calls: [], finish: 'length', tokens: [] };
    const choices = await Promise.all(
      tokens.map(async (promptTokens, index) =>
        this.#choice(none, index, { promptTokens, places: await this.#scored(promptTokens) }),
      ),
    );
    const usage = sumOf(tokens.map((promptTokens) => usageOf({ promptTokens, choices: [] })));
    const { weights } = this.#context.get('answerer');
    const model = weights.resolve(this.#body.model ?? undefined);
    return { ...this.#head({ index: 0, seed: 'scores', model }), choices, usage };
  }

  async *events(answerings: readonly Answering[]): AsyncGenerator<StreamEvent, void, undefined> {
    for (const [prompt, { pieces, request }] of answerings.entries()) {
      for await (const piece of pieces) yield this.#chunk(piece, prompt, request);
    }
    if (this.#body.stream_options?.include_usage === true) {
      const answers = await Promise.all(answerings.map(({ answer }) => answer));
      const usage = sumOf(answers.map(usageOf));
      yield { data: { ...this.#head(answerings[0]!.request), choices: [], usage } };
    }
    yield { data: '[DONE]' };
  }

  #chunk(piece: AnswerPiece, prompt: number, request: Answering['request']): StreamEvent {
    const index = prompt * request.count + piece.member;
    const isEnd = piece.type === 'end';
    const choice = {
      ...{ index, text: isEnd ? '' : piece.text, ...this.#tokenFields(piece.tokens) },
      ...{ finish_reason: isEnd ? piece.choice.finish : null },
      stop_reason: isEnd ? (piece.choice.stopString ?? null) : null,
    };
    return { data: { ...this.#head(request), choices: [choice] } };
  }

  /** Logprobs of a prompt, if the client wants them. */
  async #scored(tokens: readonly TokenId[]): Promise<readonly (ScoredPlace | null)[] | undefined> {
    const { prompt_logprobs: wanted, echo, logprobs } = this.#body;
    const asked = wanted ?? (echo === true ? logprobs : undefined);
    if (asked == null) return undefined;
    const { model } = this.#body;
    const likely = asked === -1 ? ('all' as const) : asked;
    return this.#context
      .get('answerer')
      .score({ model: model ?? undefined, tokens, likely }, signalOf(this.#context));
  }

  #choice(
    { text, tokens, finish, stopString }: AnswerChoice,
    index: number,
    prompt: {
      readonly promptTokens: readonly TokenId[];
      readonly places: readonly (ScoredPlace | null)[] | undefined;
    },
  ): object {
    const { echo, prompt_logprobs: wanted, return_token_ids: withIds } = this.#body;
    const { promptTokens, places = [] } = prompt;
    const before = echo === true ? promptTokens.map((token, t) => places[t] ?? { token, logprob: null }) : [];
    const shown = echo === true ? this.#tokenizer.decode(promptTokens) + text : text;
    return {
      ...{ index, text: shown, ...this.#tokenFields([...before, ...tokens]) },
      ...{ finish_reason: finish, stop_reason: stopString ?? null },
      ...(withIds === true && { prompt_token_ids: promptTokens }),
      ...(wanted != null && { prompt_logprobs: promptLogprobsOf(places, this.#tokenizer) }),
    };
  }

  #tokenFields(
    tokens: readonly (AnswerToken | { readonly token: TokenId; readonly logprob: null })[],
  ): object {
    const { logprobs, return_token_ids: withIds } = this.#body;
    const ids = withIds === true ? { token_ids: tokens.map(({ token }) => token) } : {};
    if (logprobs == null) return { logprobs: null, ...ids };
    let offset = 0;
    const text_offset = tokens.map(({ token }) => {
      const at = offset;
      offset += tokenText(this.#tokenizer, token).length;
      return at;
    });
    const listed = tokens.map((one) => {
      if (one.logprob === null) return null;
      const likely = 'top' in one ? (one.top ?? []) : [];
      return Object.fromEntries([one, ...likely].map(({ token, logprob }) => [this.#word(token), logprob]));
    });
    const token_logprobs = tokens.map(({ logprob }) => logprob);
    const words = tokens.map(({ token }) => this.#word(token));
    return { logprobs: { tokens: words, token_logprobs, top_logprobs: listed, text_offset }, ...ids };
  }

  #word(token: TokenId): string {
    if (this.#body.return_tokens_as_token_ids === true) return `token_id:${token}`;
    return tokenText(this.#tokenizer, token);
  }

  #head({ index, seed, model }: Pick<Answering['request'], 'index' | 'seed' | 'model'>): object {
    const id = `cmpl-${index}-${seed}`;
    return { id, object: 'text_completion', created: secondsNow(this.#context), model };
  }
}

function sumOf(usages: readonly ReturnType<typeof usageOf>[]): ReturnType<typeof usageOf> {
  const total = (name: keyof ReturnType<typeof usageOf>) =>
    usages.reduce((sum, usage) => sum + usage[name], 0);
  return {
    prompt_tokens: total('prompt_tokens'),
    completion_tokens: total('completion_tokens'),
    total_tokens: total('total_tokens'),
  };
}
