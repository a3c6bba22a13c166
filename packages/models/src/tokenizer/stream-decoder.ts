import { requireFields, type TokenId, type Tokenizer } from '@rlp/core';

/** Tokens before a text that its decoding depends on, and maximum tokens held back while a character is incomplete. */
export const contextTokens = 16;

/**
 * Turns tokens into text as they arrive.
 *
 * Only stable text is returned. A character whose bytes are spread over several tokens appears with its last token. The
 * space that SentencePiece tokenizers put before a word is kept, although a lone token decodes without it. Tokens are
 * decoded in a short window, so the cost per token does not grow with the text.
 *
 * If all tokens are valid UTF-8, the text equals decoding them at once.
 */
export class StreamDecoder {
  readonly #tokenizer: Tokenizer;
  readonly #specialTokens: 'skip' | 'keep';
  /** Tokens from the beginning of the window on. */
  #window: TokenId[];
  /** Number of window tokens whose text was returned. */
  #given: number;
  #text = '';

  /**
   * @param options.context - Tokens before the first one pushed, such as the prompt: the text then continues theirs.
   *   Default none: the text begins as `decode` would begin it.
   * @param options.specialTokens - As in {@link Tokenizer.decode}. Default `'skip'`.
   */
  constructor(
    tokenizer: Tokenizer,
    options: { readonly context?: readonly TokenId[]; readonly specialTokens?: 'skip' | 'keep' } = {},
  ) {
    requireFields('StreamDecoder', { decode: 'function' }, tokenizer);
    requireFields('StreamDecoder', { context: 'numbers?' }, options);
    this.#tokenizer = tokenizer;
    this.#specialTokens = options.specialTokens ?? 'skip';
    this.#window = Array.from(options.context ?? []).slice(-contextTokens);
    this.#given = this.#window.length;
  }

  /** All text given out so far. */
  get text(): string {
    return this.#text;
  }

  /** Takes the next token. @returns the text that became stable, often empty. */
  push(token: TokenId): string {
    this.#window.push(token);
    const before = this.#decode(this.#window.slice(0, this.#given));
    const after = this.#decode(this.#window);
    const pending = this.#window.length - this.#given;
    if (after.length <= before.length) {
      // Tokens without text, such as special ones, would fill the window.
      if (pending >= contextTokens) this.#window.length = this.#given;
      return '';
    }
    if (after.endsWith('\uFFFD') && pending < contextTokens) return '';
    this.#window = this.#window.slice(this.#given);
    this.#given = this.#window.length;
    return this.#give(after.slice(before.length));
  }

  /** Ends the stream. @returns the text still held back: an unfinished character decodes as U+FFFD. */
  finish(): string {
    const before = this.#decode(this.#window.slice(0, this.#given));
    const after = this.#decode(this.#window);
    this.#given = this.#window.length;
    return this.#give(after.slice(before.length));
  }

  #decode(tokens: readonly TokenId[]): string {
    return this.#tokenizer.decode(tokens, { specialTokens: this.#specialTokens });
  }

  #give(text: string): string {
    this.#text += text;
    return text;
  }
}
