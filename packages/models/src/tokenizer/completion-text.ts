import { requireArguments, requireFields, type TokenId, type Tokenizer } from '@rlp/core';
import { contextTokens, StreamDecoder } from './stream-decoder.ts';

/** What a token added to a completion's text. */
export interface TextProgress {
  /** Certain text, in whole characters and outside any stop string. */
  readonly text: string;
  /** Whether a stop string is complete, so that the text ends here. */
  readonly state: 'open' | 'stopped';
}

/** Where a completion's text begins and ends. */
export interface TextOptions {
  /** Tokenizer of the model. */
  readonly tokenizer: Tokenizer;
  /** What the completion continues. The space before its first word depends on it. */
  readonly prompt: readonly TokenId[];
  /** Tokens that end a completion. They are not part of its text. */
  readonly endTokens: readonly TokenId[];
  /** Texts that end a completion. They are not part of its text. */
  readonly stopStrings: readonly string[];
}

const textKinds = {
  tokenizer: 'object',
  prompt: 'numbers',
  endTokens: 'numbers',
  stopStrings: 'texts',
} as const;

/**
 * The text of a completion as its tokens arrive. Prompt and text together are the text of the whole sequence.
 *
 * Text comes out in whole characters. A possible beginning of a stop string is held back until it is decided.
 */
export class CompletionText {
  readonly #options: TextOptions;
  readonly #decoder: StreamDecoder;
  #text = '';
  #released = 0;

  constructor(options: TextOptions) {
    requireFields('CompletionText', textKinds, options);
    this.#options = options;
    this.#decoder = new StreamDecoder(options.tokenizer, { context: options.prompt });
  }

  /** Adds a token. Not to be called again once stopped. */
  push(token: TokenId): TextProgress {
    if (this.#options.endTokens.includes(token)) return { text: '', state: 'open' };
    return this.#append(this.#decoder.push(token));
  }

  /** The text that was held back, once no more tokens come. */
  flush(): string {
    const { text, state } = this.#append(this.#decoder.finish());
    return state === 'stopped' ? text : text + this.#release(this.#text.length);
  }

  #append(addition: string): TextProgress {
    const before = this.#text.length;
    this.#text += addition;
    const cut = firstStop(this.#text, this.#options.stopStrings, before);
    if (cut === undefined) return { text: this.#release(this.#safeLength()), state: 'open' };
    this.#text = this.#text.slice(0, cut);
    return { text: this.#release(cut), state: 'stopped' };
  }

  #release(end: number): string {
    const text = this.#text.slice(this.#released, end);
    this.#released = Math.max(this.#released, end);
    return text;
  }

  /** Length of the text without an ending that may grow into a stop string. */
  #safeLength(): number {
    let held = 0;
    for (const stop of this.#options.stopStrings) {
      for (let length = Math.min(stop.length - 1, this.#text.length); length > held; length--) {
        if (this.#text.endsWith(stop.slice(0, length))) held = length;
      }
    }
    return this.#text.length - held;
  }
}

/** Where the first stop string begins that ends after `from`. */
function firstStop(text: string, stopStrings: readonly string[], from = 0): number | undefined {
  let first: number | undefined;
  for (const stop of stopStrings) {
    const index = text.indexOf(stop, Math.max(0, from - stop.length + 1));
    if (index >= 0 && (first === undefined || index < first)) first = index;
  }
  return first;
}

/** The text of a finished completion: without its end token, cut before the first stop string. */
export function completionText(tokens: readonly TokenId[], options: TextOptions): string {
  requireArguments('completionText', { tokens: 'numbers' }, tokens);
  requireFields('completionText', textKinds, options);
  return textAtOnce(tokens, options) ?? textInPieces(tokens, options);
}

/** The text without stop strings, decoded at once. Undefined for bytes that are not a character, whose text comes in pieces. */
function textAtOnce(
  tokens: readonly TokenId[],
  { tokenizer, prompt, endTokens, stopStrings }: TextOptions,
): string | undefined {
  if (stopStrings.length > 0) return undefined;
  const context = prompt.slice(-contextTokens);
  const before = tokenizer.decode(context);
  const said = tokens.filter((token) => !endTokens.includes(token));
  const whole = tokenizer.decode([...context, ...said]);
  const isPlain = whole.startsWith(before) && !whole.includes('\uFFFD');
  return isPlain ? whole.slice(before.length) : undefined;
}

function textInPieces(tokens: readonly TokenId[], options: TextOptions): string {
  const text = new CompletionText(options);
  let whole = '';
  for (const token of tokens) {
    const { text: addition, state } = text.push(token);
    whole += addition;
    if (state === 'stopped') return whole;
  }
  return whole + text.flush();
}
