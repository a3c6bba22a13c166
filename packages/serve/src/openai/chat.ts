import type { Tokenizer } from '@rlp/core';
import * as z from 'zod';
import type { Answering } from '../answer/answerer.ts';
import type { Answer, AnswerChoice, AnswerPiece, AnswerRequest, AnswerToken } from '../answer/request.ts';
import { eventStream, type StreamEvent } from '../event-stream.ts';
import { answerJson, readJson, type ServeApp, type ServeContext, secondsNow, signalOf } from '../routes.ts';
import { openaiFailure } from './errors.ts';
import {
  chatMessageSchema,
  chatToolChoiceSchema,
  chatToolSchema,
  templateVariablesSchema,
  unread,
} from './messages.ts';
import { drawOf, samplingFields, samplingOf } from './sampling.ts';
import { wordsOf } from './token-text.ts';
import { usageOf } from './usage.ts';

const bodySchema = z.looseObject({
  ...samplingFields,
  model: z.string().nullish(),
  messages: z.array(chatMessageSchema),
  tools: z.array(chatToolSchema).nullish(),
  tool_choice: chatToolChoiceSchema.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  modalities: z.array(z.literal('text', 'expected "text", nothing else is made here')).nullish(),
  chat_template_kwargs: templateVariablesSchema.nullish(),
  return_token_ids: z.boolean().nullish(),
  functions: unread('send tools'),
  function_call: unread('send tool_choice'),
  documents: unread('write them into the messages'),
  chat_template: unread('the template of the model renders all conversations'),
  add_generation_prompt: unread('an answer is always a new turn', true),
  continue_final_message: unread('an answer is always a new turn', false),
});

type Body = z.output<typeof bodySchema>;

/** Adds `/v1/chat/completions`. */
export function addChatRoutes(app: ServeApp): void {
  app.post('/v1/chat/completions', async (context) => {
    const body = await readJson(context, bodySchema);
    const answerer = context.get('answerer');
    const wanted = body.stream === true ? ('wanted' as const) : ('none' as const);
    const answering = await answerer.begin(requestOf(body), { signal: signalOf(context), pieces: wanted });
    const writer = new ChatWriter(body, answering, context);
    if (wanted === 'wanted') return eventStream(context, writer.events(), openaiFailure);
    return answerJson(context, writer.whole(await answering.answer));
  });
}

function requestOf(body: Body): AnswerRequest {
  const { messages, tools, tool_choice: toolChoice, chat_template_kwargs: templateVariables } = body;
  return {
    model: body.model ?? undefined,
    prompt: {
      messages,
      ...(tools != null && tools.length > 0 && { tools }),
      ...(toolChoice != null && { toolChoice }),
      ...(templateVariables != null && { templateVariables }),
    },
    sampling: samplingOf(body, body.max_completion_tokens ?? body.max_tokens),
    ...drawOf(body),
    topLogprobs: body.logprobs === true ? (body.top_logprobs ?? 0) : 0,
    ...(body.parallel_tool_calls === false && { maxCalls: 1 }),
  };
}

/** Words answers as the chat API does. */
class ChatWriter {
  readonly #body: Body;
  readonly #answering: Answering;
  readonly #tokenizer: Tokenizer;
  readonly #head: { readonly id: string; readonly created: number; readonly model: string };

  constructor(body: Body, answering: Answering, context: ServeContext) {
    this.#body = body;
    this.#answering = answering;
    this.#tokenizer = context.get('answerer').policy.tokenizer;
    const { seed, index, model } = answering.request;
    this.#head = { id: `chatcmpl-${index}-${seed}`, created: secondsNow(context), model };
  }

  whole(answer: Answer): object {
    return {
      ...{ ...this.#head, object: 'chat.completion' },
      choices: answer.choices.map((choice, index) => this.#choice(choice, index)),
      usage: usageOf(answer),
      ...(this.#body.return_token_ids === true && { prompt_token_ids: answer.promptTokens }),
    };
  }

  async *events(): AsyncGenerator<StreamEvent, void, undefined> {
    const { return_token_ids: withIds, n } = this.#body;
    const prompt = withIds === true ? { prompt_token_ids: this.#answering.request.promptTokens } : {};
    let isFirst = true;
    for await (const piece of this.#answering.pieces) {
      if (isFirst) {
        const roles = Array.from({ length: n ?? 1 }, (_, index) => index);
        for (const index of roles) {
          const delta = { role: 'assistant', content: '' };
          yield this.#chunk([{ index, delta, logprobs: null, finish_reason: null }], prompt);
        }
        isFirst = false;
      }
      yield* this.#pieceEvents(piece);
    }
    if (this.#body.stream_options?.include_usage === true) {
      yield this.#chunk([], { usage: usageOf(await this.#answering.answer) });
    }
    yield { data: '[DONE]' };
  }

  *#pieceEvents(piece: AnswerPiece): Generator<StreamEvent> {
    const { member: index, tokens } = piece;
    const extras = { ...this.#tokenFields(tokens), ...this.#tokenIds(tokens) };
    if (piece.type === 'text') {
      yield this.#chunk([{ index, delta: { content: piece.text }, ...extras, finish_reason: null }]);
      return;
    }
    const { calls, finish, stopString } = piece.choice;
    for (const [place, call] of calls.entries()) {
      const delta = { tool_calls: [{ index: place, ...call }] };
      yield this.#chunk([{ index, delta, logprobs: null, finish_reason: null }]);
    }
    const end = { finish_reason: finish, stop_reason: stopString ?? null };
    yield this.#chunk([{ index, delta: {}, ...extras, ...end }]);
  }

  #chunk(choices: readonly object[], more: object = {}): StreamEvent {
    return { data: { ...this.#head, object: 'chat.completion.chunk', choices, ...more } };
  }

  #choice({ text, calls, finish, tokens, stopString }: AnswerChoice, index: number): object {
    const called = calls.length > 0;
    const message = {
      ...{ role: 'assistant', content: called && text === '' ? null : text, refusal: null },
      ...(called && { tool_calls: calls }),
    };
    const end = { finish_reason: finish, stop_reason: stopString ?? null };
    return { index, message, ...this.#tokenFields(tokens), ...end, ...this.#tokenIds(tokens) };
  }

  #tokenIds(tokens: readonly AnswerToken[]): object {
    return this.#body.return_token_ids === true ? { token_ids: tokens.map(({ token }) => token) } : {};
  }

  #tokenFields(tokens: readonly AnswerToken[]): object {
    if (this.#body.logprobs !== true) return { logprobs: null };
    const content = tokens.map(({ token, logprob, top = [] }) => {
      const top_logprobs = top.map((likely) => ({
        ...{ ...wordsOf(this.#tokenizer, likely.token), logprob: likely.logprob },
      }));
      return { ...wordsOf(this.#tokenizer, token), logprob, top_logprobs };
    });
    return { logprobs: { content, refusal: null } };
  }
}
