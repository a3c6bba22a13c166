import type { TokenId, Tokenizer } from '@rlp/core';

/** Most tokens held back while they do not yet end a character. */
const MAX_PENDING = 16;

/**
 * Turns tokens into text as they arrive.
 *
 * Only stable text is given out: a character whose UTF-8 bytes are spread over several tokens appears with its last
 * one, and the space that SentencePiece-style tokenizers put before a word survives although a lone token decodes
 * without it. Tokens are decoded in a window that reaches back to the last two outputs, so the cost per token does not
 * grow with the text.
 *
 * The text is that of decoding all tokens at once whenever those are valid UTF-8.
 */
export class StreamDecoder {
  readonly #tokenizer: Tokenizer;
  readonly #specialTokens: 'skip' | 'keep';
  /** Tokens from the beginning of the window on. */
  #window: TokenId[];
  /** How many tokens of the window have been given out. */
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
    this.#tokenizer = tokenizer;
    this.#specialTokens = options.specialTokens ?? 'skip';
    this.#window = (options.context ?? []).slice(-MAX_PENDING);
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
      if (pending >= MAX_PENDING) this.#window.length = this.#given;
      return '';
    }
    if (after.endsWith('\uFFFD') && pending < MAX_PENDING) return '';
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
