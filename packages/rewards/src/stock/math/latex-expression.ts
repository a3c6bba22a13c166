/** What an expression may cost before it is refused. */
export interface ExpressionLimits {
  readonly maximumLength: number;
  readonly maximumDepth: number;
}

/** An expression in explicit infix notation: every product written, every argument in parentheses. */
export interface InfixExpression {
  readonly text: string;
  /** Its letters, `i`, `e` and `pi` left out. */
  readonly variables: ReadonlySet<string>;
}

const functions: Readonly<Record<string, string>> = {
  sqrt: 'sqrt',
  sin: 'sin',
  cos: 'cos',
  tan: 'tan',
  cot: 'cot',
  sec: 'sec',
  csc: 'csc',
  arcsin: 'asin',
  arccos: 'acos',
  arctan: 'atan',
  ln: 'log',
  log: 'log10',
  exp: 'exp',
  abs: 'abs',
};

const greek = new Set(
  'alpha beta gamma delta epsilon theta lambda mu phi varphi rho sigma tau omega psi chi eta kappa nu xi zeta'.split(
    ' ',
  ),
);

const constants = new Set(['i', 'e', 'pi']);

const token = /\s*(?:(\d+(?:\.\d*)?|\.\d+)|\\([a-zA-Z]+)|([a-zA-Z]+)|(.))/gsy;

type Token =
  | { readonly kind: 'number' | 'command' | 'letters' | 'sign'; readonly text: string }
  | { readonly kind: 'end'; readonly text: '' };

/**
 * Reads a cleaned LaTeX or plain expression of numbers, letters, `+ − * / ^ !`, fractions, roots, absolute values and the
 * usual functions. `undefined` for anything else (words, units, code, subscripts, relations) and beyond the limits.
 *
 * A recursive-descent reader over at most `maximumLength` characters: nothing is looked at twice.
 */
export function readExpression(source: string, limits: ExpressionLimits): InfixExpression | undefined {
  if (source.length > limits.maximumLength) return;
  const tokens = tokenize(source);
  if (tokens === undefined) return;
  const reader = new Reader(tokens, limits.maximumDepth);
  const text = reader.readAll();
  return text === undefined ? undefined : { text, variables: reader.variables };
}

function tokenize(source: string): Token[] | undefined {
  const tokens: Token[] = [];
  for (const [, number, command, letters, sign] of source.matchAll(token)) {
    if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (command !== undefined) tokens.push({ kind: 'command', text: command });
    else if (letters !== undefined) tokens.push(...splitLetters(letters));
    else if (sign !== undefined && sign.trim() !== '') tokens.push({ kind: 'sign', text: sign });
  }
  return tokens.some(({ kind, text }) => kind === 'number' && text.length > 30) ? undefined : tokens;
}

/** `sin` and `pi` are names; other runs of up to three letters are products; longer ones are words. */
function splitLetters(letters: string): Token[] {
  if (Object.hasOwn(functions, letters) || letters === 'pi') return [{ kind: 'command', text: letters }];
  if (letters.length > 3) return [{ kind: 'sign', text: '?' }];
  return [...letters].map((text) => ({ kind: 'letters', text }));
}

class Unreadable extends Error {}

/** A grammar of sums of products of powers; each method reads one level and returns its infix text. */
class Reader {
  readonly variables = new Set<string>();
  readonly #tokens: readonly Token[];
  readonly #maximumDepth: number;
  #at = 0;
  #depth = 0;
  #bars = 0;

  constructor(tokens: readonly Token[], maximumDepth: number) {
    this.#tokens = tokens;
    this.#maximumDepth = maximumDepth;
  }

  readAll(): string | undefined {
    try {
      const text = this.#sum();
      return this.#at === this.#tokens.length ? text : undefined;
    } catch (error) {
      if (error instanceof Unreadable) return;
      throw error;
    }
  }

  get #next(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '' };
  }

  #take(sign: string): boolean {
    if (this.#next.kind !== 'sign' || this.#next.text !== sign) return false;
    this.#at += 1;
    return true;
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) throw new Unreadable();
  }

  #sum(): string {
    if (++this.#depth > this.#maximumDepth) throw new Unreadable();
    const sign = this.#take('-') ? '-' : '';
    if (sign === '') this.#take('+');
    let text = `${sign}${this.#product()}`;
    for (;;) {
      if (this.#take('+')) text += `+${this.#product()}`;
      else if (this.#take('-')) text += `-${this.#product()}`;
      else break;
    }
    this.#depth -= 1;
    return `(${text})`;
  }

  #product(): string {
    let text = this.#power();
    for (;;) {
      if (this.#take('*')) text += `*${this.#signedPower()}`;
      else if (this.#take('/')) text += `/${this.#signedPower()}`;
      else if (this.#beginsFactor()) text += `*${this.#power()}`;
      else return text;
    }
  }

  #signedPower(): string {
    return this.#take('-') ? `(-${this.#power()})` : this.#power();
  }

  #beginsFactor(): boolean {
    const { kind, text } = this.#next;
    if (kind === 'number') return this.#tokens[this.#at - 1]?.kind !== 'number';
    return (
      kind === 'command' ||
      kind === 'letters' ||
      (kind === 'sign' && (text === '(' || text === '{' || (text === '|' && this.#bars === 0)))
    );
  }

  #power(): string {
    let text = this.#atom();
    if (this.#take('^')) text = `(${text}^${this.#argument()})`;
    return this.#take('!') ? `factorial(${text})` : text;
  }

  /** A braced group, or a single sign or digit as TeX takes it. */
  #argument(): string {
    if (this.#next.kind === 'sign' && this.#next.text === '{') return this.#atom();
    const sign = this.#take('-') ? '-' : '';
    return `(${sign}${this.#atom()})`;
  }

  #atom(): string {
    if (++this.#depth > this.#maximumDepth) throw new Unreadable();
    const text = this.#unnested();
    this.#depth -= 1;
    return text;
  }

  #unnested(): string {
    const { kind, text } = this.#next;
    this.#at += 1;
    if (kind === 'number') return text;
    if (kind === 'letters') return this.#letter(text);
    if (kind === 'command') return this.#command(text);
    if (kind === 'sign' && (text === '(' || text === '{')) {
      const inner = this.#sum();
      this.#expect(text === '(' ? ')' : '}');
      return inner;
    }
    if (kind === 'sign' && text === '|') {
      this.#bars += 1;
      const inner = this.#sum();
      this.#expect('|');
      this.#bars -= 1;
      return `abs${inner}`;
    }
    throw new Unreadable();
  }

  #letter(text: string): string {
    if (!constants.has(text)) this.variables.add(text);
    return text;
  }

  #command(name: string): string {
    if (name === 'frac') return `(${this.#argument()}/${this.#argument()})`;
    if (name === 'pi') return 'pi';
    if (name === 'sqrt' && this.#take('[')) {
      const degree = this.#sum();
      this.#expect(']');
      return `(${this.#argument()}^(1/${degree}))`;
    }
    if (Object.hasOwn(functions, name)) return this.#call(functions[name]!);
    if (greek.has(name)) return this.#letter(name);
    throw new Unreadable();
  }

  /** `\sin x`, `\sin(x)`, `\sin^2 x`. */
  #call(name: string): string {
    const exponent = this.#take('^') ? this.#argument() : undefined;
    const call = `${name}(${this.#argument()})`;
    return exponent === undefined ? call : `(${call}^${exponent})`;
  }
}
