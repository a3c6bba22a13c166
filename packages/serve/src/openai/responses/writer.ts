import type { Tokenizer, ToolCall } from '@rlp/core';
import type { Answering } from '../../answer/answerer.ts';
import type { Answer, AnswerChoice, AnswerPiece, AnswerToken } from '../../answer/request.ts';
import type { StreamEvent } from '../../event-stream.ts';
import { type ServeContext, secondsNow } from '../../routes.ts';
import { wordsOf } from '../token-text.ts';
import { type ResponsesBody, wantsLogprobs } from './request.ts';

type Item = Readonly<Record<string, unknown>>;

/** Words an answer as the Responses API does. */
export class ResponseWriter {
  readonly #body: ResponsesBody;
  readonly #answering: Answering;
  readonly #tokenizer: Tokenizer;
  readonly #created: number;
  #events = 0;

  constructor(body: ResponsesBody, answering: Answering, context: ServeContext) {
    this.#body = body;
    this.#answering = answering;
    this.#tokenizer = context.get('answerer').policy.tokenizer;
    this.#created = secondsNow(context);
  }

  /** Number of the next event. */
  next(): number {
    return this.#events++;
  }

  whole({ choices }: Pick<Answer, 'choices'>): object {
    const choice = choices[0]!;
    const { text, calls, tokens, finish } = choice;
    const said = text === '' && calls.length > 0 ? [] : [this.#message(choice)];
    const input = this.#answering.request.promptTokens.length;
    const isWhole = finish !== 'length';
    return {
      ...this.#response(isWhole ? 'completed' : 'incomplete'),
      incomplete_details: isWhole ? null : { reason: 'max_output_tokens' },
      output: [...said, ...calls.map((call, index) => this.#call(call, index, 'completed'))],
      usage: {
        ...{ input_tokens: input, input_tokens_details: { cached_tokens: 0 } },
        ...{ output_tokens: tokens.length, output_tokens_details: { reasoning_tokens: 0 } },
        total_tokens: input + tokens.length,
      },
    };
  }

  async *events(): AsyncGenerator<StreamEvent, void, undefined> {
    let isStarted = false;
    let hasText = false;
    for await (const piece of this.#answering.pieces) {
      if (!isStarted) {
        isStarted = true;
        const response = { ...this.#response('in_progress'), output: [], usage: null };
        yield this.#event('response.created', { response });
        yield this.#event('response.in_progress', { response });
      }
      if (piece.type === 'text') {
        if (!hasText) yield* this.#textBegun();
        hasText = true;
        yield this.#delta(piece);
      } else yield* this.#ended(piece.choice, hasText);
    }
  }

  *#textBegun(): Generator<StreamEvent> {
    const item = { ...this.#message(undefined), status: 'in_progress', content: [] };
    yield this.#event('response.output_item.added', { output_index: 0, item });
    const part = { type: 'output_text', text: '', annotations: [], logprobs: [] };
    yield this.#event('response.content_part.added', { ...this.#place(), part });
  }

  #delta({ text, tokens }: Extract<AnswerPiece, { type: 'text' }>): StreamEvent {
    const logprobs = this.#logprobs(tokens);
    return this.#event('response.output_text.delta', { ...this.#place(), delta: text, logprobs });
  }

  *#ended(choice: AnswerChoice, hasText: boolean): Generator<StreamEvent> {
    if (!hasText && choice.calls.length === 0) {
      yield* this.#textBegun();
      yield* this.#textEnded(choice);
    } else if (hasText) yield* this.#textEnded(choice);
    for (const [index, call] of choice.calls.entries()) {
      yield* this.#callEvents(call, index, hasText ? index + 1 : index);
    }
    const response = this.whole({ choices: [choice] });
    const type = choice.finish === 'length' ? 'response.incomplete' : 'response.completed';
    yield this.#event(type, { response });
  }

  *#textEnded(choice: AnswerChoice): Generator<StreamEvent> {
    const logprobs = this.#logprobs(choice.tokens);
    yield this.#event('response.output_text.done', { ...this.#place(), text: choice.text, logprobs });
    const item = this.#message(choice);
    const [part] = item.content as readonly Item[];
    yield this.#event('response.content_part.done', { ...this.#place(), part });
    yield this.#event('response.output_item.done', { output_index: 0, item });
  }

  *#callEvents(call: ToolCall, index: number, output_index: number): Generator<StreamEvent> {
    const item = this.#call(call, index, 'completed');
    const begun = { ...item, status: 'in_progress', arguments: '' };
    const place = { item_id: item.id, output_index };
    const { name, arguments: args } = call.function;
    yield this.#event('response.output_item.added', { output_index, item: begun });
    yield this.#event('response.function_call_arguments.delta', { ...place, delta: args });
    yield this.#event('response.function_call_arguments.done', { ...place, name, arguments: args });
    yield this.#event('response.output_item.done', { output_index, item });
  }

  #event(type: string, fields: object): StreamEvent {
    return { event: type, data: { type, sequence_number: this.next(), ...fields } };
  }

  #place(): object {
    return { item_id: this.#id('msg'), output_index: 0, content_index: 0 };
  }

  #id(kind: string): string {
    const { index, seed } = this.#answering.request;
    return `${kind}_${index}-${seed}`;
  }

  #message(choice: AnswerChoice | undefined): Item {
    const text = choice?.text ?? '';
    const logprobs = this.#logprobs(choice?.tokens ?? []);
    const content = [{ type: 'output_text', text, annotations: [], logprobs }];
    return { type: 'message', id: this.#id('msg'), status: 'completed', role: 'assistant', content };
  }

  #call({ id, function: called }: ToolCall, index: number, status: string): Item {
    return { type: 'function_call', id: `${this.#id('fc')}-${index}`, call_id: id, ...called, status };
  }

  #logprobs(tokens: readonly AnswerToken[]): readonly object[] {
    if (!wantsLogprobs(this.#body)) return [];
    return tokens.map(({ token, logprob, top = [] }) => ({
      ...{ ...wordsOf(this.#tokenizer, token), logprob },
      top_logprobs: top.map((likely) => ({
        ...{ ...wordsOf(this.#tokenizer, likely.token), logprob: likely.logprob },
      })),
    }));
  }

  #response(status: string): object {
    const { instructions, max_output_tokens, temperature, top_p, tools, tool_choice } = this.#body;
    return {
      ...{ id: this.#id('resp'), object: 'response', created_at: this.#created, status, error: null },
      ...{ incomplete_details: null, instructions: instructions ?? null, metadata: {} },
      ...{ max_output_tokens: max_output_tokens ?? null, model: this.#answering.request.model },
      ...{ parallel_tool_calls: this.#body.parallel_tool_calls ?? true, previous_response_id: null },
      ...{ temperature: temperature ?? 1, top_p: top_p ?? 1, truncation: 'disabled', store: false },
      ...{ tool_choice: tool_choice ?? 'auto', tools: tools ?? [], text: { format: { type: 'text' } } },
    };
  }
}
