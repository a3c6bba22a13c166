import { Fraction } from 'fraction.js';
import { derivativeIn, integral, limit } from './calculus.ts';
import { functionNames } from './evaluate.ts';
import { apply, constant, type Expression, renamed, symbol, writtenNumber } from './expression.ts';
import { valueInWords } from './number-words.ts';
import { TokenCursor, Unreadable } from './token-cursor.ts';

const maximumDigits = 200;

const letters = new Set(
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi varphi chi psi omega pi infty emptyset Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega ell hbar Re Im'.split(
    ' ',
  ),
);

/** The grammar of sums of products of powers. Each method reads one level. */
export abstract class TermReader extends TokenCursor {
  /** How a plus-minus sign is read. */
  protected sign: 'unread' | 'plus' | 'minus' = 'unread';
  /** Whether a plus-minus sign was read. */
  protected hasBothSigns = false;
  /** Whether a degree sign was read outside of functions. */
  protected degrees = false;
  protected bars = 0;
  /** Functions whose argument is being read. */
  #calls = 0;
  /** Letters of the integrals that are being read, empty until their differential is. */
  readonly #integrals: string[] = [];
  /** Whether the numerator of a fraction is being read. */
  #isAbove = false;

  /** Whether a letter U joins two intervals. */
  protected isUnionLetter(): boolean {
    const [before, after] = [this.previous?.text ?? '', this.tokens[this.at + 1]?.text ?? ''];
    return this.is('letter', 'U') && /^[)\]]$/.test(before) && /^[([]$/.test(after);
  }

  /** Reads what a bracket, a bar or the beginning of a matrix opens. */
  protected abstract group(opening: string): Expression;

  protected sum(): Expression {
    return this.nest(() => {
      let sum = this.#signed('+') ?? this.#product();
      for (;;) {
        const term = this.#signed('+');
        if (term === undefined) return sum;
        sum = apply('add', sum, term);
      }
    });
  }

  /** A term after its sign. */
  #signed(plus: '+' | ''): Expression | undefined {
    if (plus === '+' && this.take('+')) return this.#product();
    if (this.take('-')) return apply('negate', this.#signed('') ?? this.#product());
    const negative = this.take('pm', 'command') ? 'minus' : this.take('mp', 'command') ? 'plus' : undefined;
    if (negative === undefined) return;
    this.hasBothSigns = true;
    const term = this.#product();
    return this.sign === negative ? apply('negate', term) : term;
  }

  #product(): Expression {
    let product = this.#power();
    for (;;) {
      if (this.take('*')) product = apply('multiply', product, this.#signedPower());
      else if (this.take('/')) product = apply('divide', product, this.#signedPower());
      else if (this.#beginsFactor()) {
        const name = this.is('sign', '(') && isName(product) ? 'call' : 'multiply';
        product = apply(name, product, this.#power());
      } else return product;
    }
  }

  #signedPower(): Expression {
    return this.#signed('') ?? this.#power();
  }

  #beginsFactor(): boolean {
    const { next } = this;
    if (next === undefined) return false;
    if (this.#isDifferential()) return this.#isAbove;
    if (next.kind === 'number') return this.previous?.kind !== 'number';
    if (next.kind === 'letter') return !this.isUnionLetter() && !(this.degrees && /^[CF]$/.test(next.text));
    if (next.kind === 'command') {
      return (
        functionNames.has(next.text) ||
        letters.has(next.text) ||
        /^(?:frac|binom|sum|prod|int|lim|lfloor|lceil|langle|sqrt|begin\w*|[A-Z])$/.test(next.text)
      );
    }
    return (
      next.kind === 'sign' &&
      (next.text === '(' || next.text === '{' || (next.text === '|' && this.bars === 0))
    );
  }

  #power(): Expression {
    const base = this.#atom();
    const isCalled = base.type === 'symbol' && /^[fgh]'*$/.test(base.name) && this.is('sign', '(');
    let power = isCalled ? apply('call', base, this.#atom()) : base;
    for (;;) {
      if (this.take('!')) power = apply('factorial', power);
      else if (this.take('°')) power = this.#degree(power);
      else if (this.take('^')) {
        const isDegree = this.take('circ', 'command') || this.#takeBraced('circ');
        power = isDegree ? this.#degree(power) : apply('power', power, this.argument());
      } else return power;
    }
  }

  #takeBraced(command: string): boolean {
    const isBraced = this.is('sign', '{') && this.is('command', command, 1) && this.is('sign', '}', 2);
    if (isBraced) this.at += 3;
    return isBraced;
  }

  /** Degrees are a unit, except in the argument of a function. */
  #degree(value: Expression): Expression {
    if (this.#calls > 0) return apply('degrees', value);
    this.degrees = true;
    return value;
  }

  /** What `\frac`, `^` and their kin take: a braced group, or the next sign, digit or number. */
  protected argument(digits: 'number' | 'one' = 'number'): Expression {
    const sign = this.take('-') ? 'negative' : 'positive';
    const token = this.next;
    let value: Expression;
    if (digits === 'one' && token?.kind === 'number' && /^\d\d/.test(token.text)) {
      value = integer(token.text[0]!);
      this.tokens[this.at] = { ...token, text: token.text.slice(1) };
    } else if (token?.kind === 'number') value = integer(this.advance().text);
    else value = this.#atom();
    return sign === 'negative' ? apply('negate', value) : value;
  }

  #atom(): Expression {
    return this.nest(() => {
      if (this.#isDifferential()) return this.#differential();
      const { kind, text } = this.advance();
      if (kind === 'number') return this.#number(text);
      if (kind === 'command') return this.#command(text);
      if (kind === 'sign') return this.group(text);
      if (text.length > 1) throw new Unreadable();
      return this.#symbol(text);
    });
  }

  /** A number, a mixed number, or a number in a base. */
  #number(text: string): Expression {
    if (this.take('_')) {
      const written = this.#subscript();
      const base = valueInWords(written.toLowerCase()) ?? written;
      return base === '10' ? integer(text) : symbol(`${text}_${base}`);
    }
    const number = integer(text);
    if (!/^\d+$/.test(text)) return number;
    const begin = this.at;
    const next = this.tokens[begin];
    const isFraction = next?.kind === 'command' && next.text === 'frac';
    const isSlash =
      next?.kind === 'number' && next.spaced && this.is('sign', '/', 1) && this.is('number', undefined, 2);
    if (!isFraction && !isSlash) return number;
    const fraction = isFraction ? this.#atom() : this.#slashed();
    if (isProper(fraction)) return apply('mixed', number, fraction);
    this.at = begin;
    return number;
  }

  #slashed(): Expression {
    const [above, , below] = this.tokens.slice(this.at, this.at + 3);
    this.at += 3;
    return apply('divide', integer(above!.text), integer(below!.text));
  }

  #symbol(name: string): Expression {
    const subscript = this.take('_') ? `_${this.#subscript()}` : '';
    let primes = '';
    while (this.take("'")) primes += "'";
    return symbol(name + subscript + primes);
  }

  /** The tokens of a subscript, as one name. */
  #subscript(): string {
    if (!this.take('{')) return this.advance().text;
    const name: string[] = [];
    while (!this.take('}')) name.push(this.advance().text);
    return name.join('');
  }

  #command(name: string): Expression {
    if (name === 'frac') return this.#fraction();
    if (name === 'int') return this.#integral();
    if (name === 'lim') return this.#limit();
    if (name === 'binom') return apply('binomial', this.argument('one'), this.argument('one'));
    if (name === 'sqrt' && this.take('[')) {
      const degree = this.sum();
      this.expect(']');
      return apply('power', this.argument('one'), apply('divide', integer('1'), degree));
    }
    if (name === 'sqrt') return apply('sqrt', this.argument('one'));
    if (functionNames.has(name)) return this.#call(name);
    if (name === 'sum' || name === 'prod') return this.#series(name);
    if (letters.has(name) || /^[A-Z]$/.test(name)) return this.#symbol(name);
    return this.group(name);
  }

  #fraction(): Expression {
    const found = derivativeIn(this.tokens.slice(this.at, this.at + 30).map(({ text }) => text));
    if (found !== undefined) {
      if (found.name === undefined) throw new Unreadable();
      this.at += found.length;
      return symbol(found.name);
    }
    const isAbove = this.#isAbove;
    this.#isAbove = true;
    const above = this.argument('one');
    this.#isAbove = isAbove;
    return apply('divide', above, this.argument('one'));
  }

  /** Whether `dx` stands here, in an integral. */
  #isDifferential(): boolean {
    const [sign, letter] = [this.next, this.tokens[this.at + 1]];
    const isLetter = letter?.kind === 'letter' || (letter?.kind === 'command' && letters.has(letter.text));
    return this.#integrals.length > 0 && sign?.text === 'd' && sign.kind !== 'command' && isLetter;
  }

  /** The differential of the innermost integral, as a factor. */
  #differential(): Expression {
    if (this.#integrals.at(-1) !== '') throw new Unreadable();
    this.#integrals[this.#integrals.length - 1] = this.tokens[this.at + 1]!.text;
    this.at += 2;
    return constant(1);
  }

  /** `\int_0^1 f(x)\,dx`, with the differential behind, in a numerator or in front. */
  #integral(): Expression {
    const from = this.take('_') ? this.argument('one') : undefined;
    const to = this.take('^') ? this.argument('one') : undefined;
    if ((from === undefined) !== (to === undefined)) throw new Unreadable();
    this.#integrals.push('');
    let integrand = this.#signed('') ?? this.#product();
    while (this.#integrals.at(-1) === '' && !this.#isDifferential()) {
      const term = this.#signed('+');
      if (term === undefined) throw new Unreadable();
      integrand = apply('add', integrand, term);
    }
    if (this.#integrals.at(-1) === '') this.#differential();
    return integral(integrand, this.#integrals.pop()!, [from, to]);
  }

  /** `\lim_{x \to 0} f(x)`. */
  #limit(): Expression {
    for (const sign of ['_', '{']) this.expect(sign);
    const name = this.#atom();
    this.expect('to', 'command');
    const to = this.sum();
    this.expect('}');
    if (name.type !== 'symbol') throw new Unreadable();
    return limit(this.#product(), name.name, to);
  }

  /** `\sum_{k=1}^{n} k^2`: what it adds, its letter, and the bounds of that. */
  #series(name: string): Expression {
    for (const sign of ['_', '{']) this.expect(sign);
    const index = this.#atom();
    this.expect('=');
    const from = this.sum();
    for (const sign of ['}', '^']) this.expect(sign);
    const to = this.argument('one');
    const term = this.#product();
    if (index.type !== 'symbol') throw new Unreadable();
    return apply(name, renamed(term, index.name, 'index'), from, to);
  }

  /** `\sin x`, `\sin 2x`, `\sin(x)`, `\sin^2 x`, `\sin^{-1} x`, `\log_2 x`. */
  #call(name: string): Expression {
    let [exponent, base]: (Expression | undefined)[] = [];
    for (;;) {
      if (this.take('^')) exponent = this.argument();
      else if (this.take('_')) base = this.argument();
      else break;
    }
    this.#calls += 1;
    const argument = this.#callArgument();
    this.#calls -= 1;
    if (/^(?:gcd|lcm|max|min)$/.test(name) && argument.type === 'collection')
      return apply(name, ...argument.parts);
    const isInverse =
      exponent !== undefined && writtenNumber(exponent)?.value.equals(-1) && /^(?:sin|cos|tan)$/.test(name);
    const call = isInverse
      ? apply(`arc${name}`, argument)
      : apply(name, argument, ...(base === undefined ? [] : [base]));
    return exponent === undefined || isInverse ? call : apply('power', call, exponent);
  }

  #callArgument(): Expression {
    if (this.is('sign', '(') || this.is('sign', '{') || this.is('sign', '[')) return this.#atom();
    let argument = this.#signed('') ?? this.#power();
    while (this.#beginsFactor() && !this.is('sign') && !functionNames.has(this.next!.text)) {
      argument = apply('multiply', argument, this.#power());
    }
    return argument;
  }
}

/** Whether a bracket behind an expression may hold its argument: `f`, `f^{-1}`. */
function isName(expression: Expression): boolean {
  const [base] = expression.type === 'apply' && expression.name === 'power' ? expression.args : [expression];
  return base!.type === 'symbol';
}

function integer(text: string): Expression {
  if (text.length > maximumDigits) throw new Unreadable();
  const exponent = Number(/[eE](.*)/.exec(text)?.[1] ?? 0);
  if (Math.abs(exponent) > maximumDigits) throw new Unreadable();
  const value = new Fraction(text.replace(/[eE].*/, '')).mul(new Fraction(10).pow(exponent));
  return { type: 'number', value, notation: /^\d+$/.test(text) ? 'integer' : 'decimal' };
}

function isProper(fraction: Expression): boolean {
  if (fraction.type !== 'apply') return false;
  const [above, below] = fraction.args;
  return (
    above?.type === 'number' &&
    below?.type === 'number' &&
    above.notation === 'integer' &&
    below.notation === 'integer' &&
    above.value.lt(below.value)
  );
}
