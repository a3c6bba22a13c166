import {
  type Completion,
  isSilentToken,
  parseToolCalls,
  type TokenId,
  type Tokenizer,
  type ToolCall,
  type ToolCallFormat,
  type ToolSchema,
  toolCallFormats,
  withCallMarks,
} from '@rlp/core';
import { CompletionText } from '@rlp/models';

/** What the text of an answer depends on. */
export interface AnswerTextOptions {
  readonly tokenizer: Tokenizer;
  readonly promptTokens: readonly TokenId[];
  readonly stopStrings: readonly string[];
  readonly stopTokens: readonly TokenId[];
  /** Tools that the model may call. */
  readonly tools?: readonly ToolSchema[] | undefined;
  /** Text that the answer was made to begin with. */
  readonly prefix: string;
}

/** Texts that may begin a call. From there on nothing is shown until the answer has ended. */
const marks = [
  ...Object.values<ToolCallFormat>(toolCallFormats).flatMap(({ mark }) => mark ?? []),
  ...['<|python_tag|>', '<|python_start|>', '<|channel|>'],
];

/**
 * Text of an answer as its tokens arrive: whole characters, outside stop strings, and nothing that may become a call.
 *
 * Without tools everything is shown at once.
 */
export class AnswerText {
  readonly #options: AnswerTextOptions;
  readonly #completion: CompletionText;
  #raw = '';
  #shown = '';
  #mayCall: boolean;
  #isBegun = false;
  #isStopped = false;

  constructor(options: AnswerTextOptions) {
    this.#options = options;
    const { tokenizer, promptTokens, stopStrings, stopTokens, prefix } = options;
    this.#mayCall = prefix !== '';
    this.#completion = new CompletionText({
      ...{ tokenizer, prompt: promptTokens, stopStrings },
      endTokens: [...tokenizer.eosIds, ...stopTokens],
    });
  }

  /** Adds a token. @returns text that can be shown. */
  push(token: TokenId): string {
    const { tokenizer, tools } = this.#options;
    if (this.#isStopped) return '';
    this.#isBegun = true;
    const { text, state } = this.#completion.push(token);
    this.#raw += text;
    this.#isStopped = state === 'stopped';
    if (tools === undefined) return this.#show(this.#raw.length);
    this.#mayCall ||= isSilentToken(token, tokenizer) || /^\s*[[{]/.test(this.#raw);
    return this.#mayCall ? '' : this.#show(this.#decided());
  }

  /** Ends the answer. @returns its calls, its whole text and what of it was not shown yet. */
  finish(completion: Completion): {
    readonly text: string;
    readonly rest: string;
    readonly calls: readonly ToolCall[];
  } {
    const { tools, tokenizer, prefix } = this.#options;
    const given = this.#shown.length;
    // A client that does not stream gets the same text as one that does.
    if (tools !== undefined && !this.#isBegun) for (const token of completion.tokens) this.push(token);
    const { text: marked } = withCallMarks(completion, tools, tokenizer, prefix);
    const parsed = tools === undefined ? undefined : parseToolCalls(prefix + marked, tools);
    const calls = parsed?.calls ?? [];
    const whole = calls.length > 0 ? leading(prefix + marked, parsed!.text) : prefix + completion.text;
    const text = whole.startsWith(this.#shown) ? whole : this.#shown;
    return { text, rest: text.slice(given), calls };
  }

  #show(end: number): string {
    const text = this.#raw.slice(this.#shown.length, end);
    this.#shown += text;
    return text;
  }

  /** Length of the text before anything that may begin a call, and before the white space there. */
  #decided(): number {
    let end = this.#raw.length;
    for (const mark of marks) {
      const at = this.#raw.indexOf(mark, Math.max(0, this.#shown.length - mark.length));
      if (at >= 0) {
        this.#mayCall = true;
        end = Math.min(end, at);
      }
      for (let length = Math.min(mark.length - 1, this.#raw.length); length > 0; length--) {
        if (!this.#raw.endsWith(mark.slice(0, length))) continue;
        end = Math.min(end, this.#raw.length - length);
        break;
      }
    }
    return Math.max(this.#shown.length, this.#raw.slice(0, end).trimEnd().length);
  }
}

/** The text beside calls, with the white space that the answer began with. It was shown before the calls were known. */
function leading(raw: string, text: string): string {
  return text === '' ? '' : raw.slice(0, raw.length - raw.trimStart().length) + text;
}
