import type { Token } from './latex-tokens.ts';

/** A text that is not an answer of a known form. */
export class Unreadable extends Error {}

const maximumDepth = 40;

/** A place in a list of tokens. */
export class TokenCursor {
  protected readonly tokens: Token[];
  protected at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = [...tokens];
  }

  protected get next(): Token | undefined {
    return this.tokens[this.at];
  }

  protected get previous(): Token | undefined {
    return this.tokens[this.at - 1];
  }

  protected is(kind: Token['kind'], text?: string, ahead = 0): boolean {
    const token = this.tokens[this.at + ahead];
    return token?.kind === kind && (text === undefined || token.text === text);
  }

  /** Goes past a token if it is this one. */
  protected take(text: string, kind: Token['kind'] = 'sign'): boolean {
    if (!this.is(kind, text)) return false;
    this.at += 1;
    return true;
  }

  protected expect(text: string, kind: Token['kind'] = 'sign'): void {
    if (!this.take(text, kind)) throw new Unreadable();
  }

  /** Goes past any token. */
  protected advance(): Token {
    const token = this.next;
    if (token === undefined) throw new Unreadable();
    this.at += 1;
    return token;
  }

  protected nest<Result>(read: () => Result): Result {
    if (++this.#depth > maximumDepth) throw new Unreadable();
    const result = read();
    this.#depth -= 1;
    return result;
  }
}
