import type { ToolCallFormat, WrittenCall } from './format.ts';

/** `[weather(city='Bern', days=3), clock()]`, a Python list of calls: Llama 3.2, Llama 4, ToolACE, OLMo 3. */
export const pythonic: ToolCallFormat = {
  read(response, tools) {
    const text = response.replace(/^\s*<\|python_start\|>/, '').replace(/<\|python_end\|>\s*$/, '');
    const calls = new PythonReader(text).calls();
    const isRead = calls?.every(({ name }) => tools.isOffered(name));
    return isRead ? { text: '', calls: calls! } : { text: response, calls: [] };
  },
  write: (calls) => `[${calls.map(writtenCall).join(', ')}]`,
};

function writtenCall({ name, arguments: args }: WrittenCall): string {
  const pairs = Object.entries(args).map(([key, value]) => `${key}=${python(value)}`);
  return `${name}(${pairs.join(', ')})`;
}

function python(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${python(inner)}`);
  return `{${pairs.join(', ')}}`;
}

const CONSTANTS: Readonly<Record<string, unknown>> = {
  None: null,
  null: null,
  True: true,
  true: true,
  False: false,
  false: false,
};
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  '0': '\0',
  '\n': '',
};

/** Raised where the text is not a list of calls. Never leaves this file. */
class NotPython extends Error {}

/** Values nested deeper than this are not read as arguments. */
const DEEPEST = 100;

/** Reads Python literals and calls with keyword arguments, and nothing else of the language. */
class PythonReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The calls if the whole text is a list of at least one, else `undefined`. */
  calls(): readonly WrittenCall[] | undefined {
    // Most responses are not a list, and raising an error takes longer than this test.
    if (!/^\s*\[/.test(this.#text)) return undefined;
    try {
      const calls = this.#items('[', ']', () => this.#call());
      this.#space();
      return this.#at === this.#text.length && calls.length > 0 ? calls : undefined;
    } catch (error) {
      if (error instanceof NotPython) return undefined;
      throw error;
    }
  }

  #call(): WrittenCall {
    const name = this.#match(/[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*/uy);
    const pairs = this.#items('(', ')', (): [string, unknown] => {
      const key = this.#match(/[\p{L}_][\p{L}\p{N}_]*/uy);
      this.#expect('=');
      return [key, this.#value()];
    });
    return { name, arguments: Object.fromEntries(pairs) };
  }

  #value(): unknown {
    this.#space();
    const character = this.#text[this.#at] ?? '';
    if (character === '[') return this.#items('[', ']', () => this.#value());
    if (character === '(') return this.#items('(', ')', () => this.#value());
    if (character === '{') return this.#braces();
    if (character === '"' || character === "'") return this.#strings();
    const word = this.#match(/[-+]?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)|[A-Za-z]+/y);
    if (Object.hasOwn(CONSTANTS, word)) return CONSTANTS[word];
    const number = Number(word.replaceAll('_', ''));
    if (/\d/.test(word) && Number.isFinite(number)) return number;
    throw new NotPython();
  }

  /** A dictionary, or a set as a list. */
  #braces(): unknown {
    const pairs: [string, unknown][] = [];
    const items = this.#items('{', '}', () => {
      const item = this.#value();
      this.#space();
      if (this.#text[this.#at] !== ':') return item;
      this.#at += 1;
      pairs.push([String(item), this.#value()]);
      return item;
    });
    if (pairs.length !== items.length && pairs.length > 0) throw new NotPython();
    return pairs.length > 0 || items.length === 0 ? Object.fromEntries(pairs) : items;
  }

  /** One string, or several that Python joins. */
  #strings(): string {
    let text = '';
    for (this.#space(); /["']/.test(this.#text[this.#at] ?? ''); this.#space()) text += this.#string();
    return text;
  }

  #string(): string {
    const one = this.#text[this.#at]!;
    const quote = this.#text.startsWith(one.repeat(3), this.#at) ? one.repeat(3) : one;
    let text = '';
    for (this.#at += quote.length; !this.#text.startsWith(quote, this.#at); this.#at++) {
      if (this.#at >= this.#text.length) throw new NotPython();
      text += this.#text[this.#at] === '\\' ? this.#escape() : this.#text[this.#at];
    }
    this.#at += quote.length;
    return text;
  }

  /** The character of an escape. Leaves the reader on its last character. */
  #escape(): string {
    const letter = this.#text[++this.#at] ?? '';
    const digits = { x: 2, u: 4, U: 8 }[letter];
    if (digits === undefined) return ESCAPES[letter] ?? (/[\\'"]/.test(letter) ? letter : `\\${letter}`);
    const hex = this.#text.slice(this.#at + 1, this.#at + 1 + digits);
    const code = Number.parseInt(hex, 16);
    if (!/^[\da-f]+$/i.test(hex) || hex.length < digits || code > 0x10ffff) throw new NotPython();
    this.#at += digits;
    return String.fromCodePoint(code);
  }

  #items<Item>(open: string, close: string, read: () => Item): Item[] {
    if (++this.#depth > DEEPEST) throw new NotPython();
    const items: Item[] = [];
    this.#expect(open);
    for (this.#space(); this.#text[this.#at] !== close; this.#space()) {
      items.push(read());
      this.#space();
      if (this.#text[this.#at] !== close) this.#expect(',');
    }
    this.#at += 1;
    this.#depth -= 1;
    return items;
  }

  #expect(character: string): void {
    this.#space();
    if (this.#text[this.#at] !== character) throw new NotPython();
    this.#at += 1;
  }

  #match(pattern: RegExp): string {
    this.#space();
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw new NotPython();
    this.#at += found.length;
    return found;
  }

  #space(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }
}
