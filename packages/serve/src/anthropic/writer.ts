import type { Answering } from '../answer/answerer.ts';
import type { Answer, AnswerChoice } from '../answer/request.ts';
import type { StreamEvent } from '../event-stream.ts';

/** Words an answer as Anthropic's API does. */
export class MessageWriter {
  readonly #answering: Answering;

  constructor(answering: Answering) {
    this.#answering = answering;
  }

  whole({ choices, promptTokens }: Answer): object {
    const choice = choices[0]!;
    const { text, calls, tokens } = choice;
    const said = text === '' && calls.length > 0 ? [] : [{ type: 'text', text }];
    const used = calls.map(({ id, function: { name, arguments: input } }) => ({
      ...{ type: 'tool_use', id, name, input: JSON.parse(input) as unknown },
    }));
    const usage = { input_tokens: promptTokens.length, output_tokens: tokens.length };
    return { ...this.#head(), content: [...said, ...used], ...ending(choice), usage };
  }

  async *events(): AsyncGenerator<StreamEvent, void, undefined> {
    let block = -1;
    let isStarted = false;
    for await (const piece of this.#answering.pieces) {
      if (!isStarted) yield event('message_start', { message: this.#begun() });
      isStarted = true;
      if (piece.type === 'text') {
        if (block < 0) {
          block = 0;
          yield event('content_block_start', { index: block, content_block: { type: 'text', text: '' } });
        }
        yield event('content_block_delta', { index: block, delta: { type: 'text_delta', text: piece.text } });
        continue;
      }
      if (block >= 0) yield event('content_block_stop', { index: block });
      yield* callEvents(piece.choice, block + 1);
      const usage = { output_tokens: piece.choice.tokens.length };
      yield event('message_delta', { delta: ending(piece.choice), usage });
    }
    yield event('message_stop', {});
  }

  #head(): object {
    const { index, seed, model } = this.#answering.request;
    return { id: `msg_${index}-${seed}`, type: 'message', role: 'assistant', model };
  }

  #begun(): object {
    const usage = { input_tokens: this.#answering.request.promptTokens.length, output_tokens: 0 };
    return { ...this.#head(), content: [], stop_reason: null, stop_sequence: null, usage };
  }
}

function* callEvents({ calls }: AnswerChoice, first: number): Generator<StreamEvent> {
  for (const [place, { id, function: called }] of calls.entries()) {
    const index = first + place;
    const { name, arguments: partial_json } = called;
    yield event('content_block_start', { index, content_block: { type: 'tool_use', id, name, input: {} } });
    yield event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } });
    yield event('content_block_stop', { index });
  }
}

function event(type: string, fields: object): StreamEvent {
  return { event: type, data: { type, ...fields } };
}

function ending({ finish, stopString }: AnswerChoice): object {
  if (stopString !== undefined) return { stop_reason: 'stop_sequence', stop_sequence: stopString };
  const reasons = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' } as const;
  return { stop_reason: reasons[finish], stop_sequence: null };
}
