/** An equation that a text states, and whether it holds. */
export interface ArithmeticStatement {
  /** As it stands there, white space aside. */
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly holds: boolean;
}

interface Token {
  readonly kind: 'number' | 'operator' | 'equals' | 'break';
  readonly text: string;
  /** Whether a letter or digit touches it on that side. */
  readonly attached: boolean;
}

const pattern = /(\d[\d,]*(?:\.\d+)?|\.\d+)|([-+−*×xX·/÷()%])|(=|≈)|[$€£]|[^\S\n]+|([\s\S])/gu;
const operators: Readonly<Record<string, string>> = {
  '−': '-',
  '×': '*',
  x: '*',
  X: '*',
  '·': '*',
  '÷': '/',
};

/**
 * The equations of a text that can be checked: `2 + 3 * 4 = 14`, chains `a = b = c` pair by pair, money and percent signs,
 * thousands separators. The left side must have an operator. Letters next to a number make it no statement. A result of
 * a division or of decimals may be rounded or cut off at its last digit.
 */
export function arithmeticStatements(text: string): ArithmeticStatement[] {
  // No statement goes over the end of a line, and most lines have none.
  return text.split('\n').flatMap((line) => (/[=≈]/u.test(line) ? statementsOf(line) : []));
}

function statementsOf(line: string): ArithmeticStatement[] {
  const found: ArithmeticStatement[] = [];
  let sides: Token[][] = [[]];
  const finish = () => {
    for (let side = 1; side < sides.length; side++) {
      const statement = statementOf(sides[side - 1]!, sides[side]!, side > 1);
      if (statement !== undefined) found.push(statement);
    }
    sides = [[]];
  };
  for (const token of tokensOf(line)) {
    if (token.kind === 'break') finish();
    else if (token.kind === 'equals') sides.push([]);
    else sides.at(-1)!.push(token);
  }
  finish();
  return found;
}

function* tokensOf(text: string): Generator<Token> {
  for (const match of text.matchAll(pattern)) {
    const [whole, number, operator, equals, other] = match;
    const attached = /\p{L}/u.test((text[match.index - 1] ?? '') + (text[match.index + whole.length] ?? ''));
    if (number !== undefined) {
      const endsWithComma = number.endsWith(',');
      yield { kind: 'number', text: number.replace(/,+$/u, ''), attached };
      if (endsWithComma) yield { kind: 'break', text: ',', attached };
    } else if (operator !== undefined) {
      const isLetter = /[xX]/u.test(operator) && attached;
      yield { kind: isLetter ? 'break' : 'operator', text: operators[operator] ?? operator, attached };
    } else if (equals !== undefined) yield { kind: 'equals', text: equals, attached };
    else if (other !== undefined) yield { kind: 'break', text: other, attached };
  }
}

function statementOf(left: Token[], right: Token[], isChained: boolean): ArithmeticStatement | undefined {
  const [first] = left;
  const hasOperator = left.some(
    ({ kind, text }, at) => kind === 'operator' && '+-*/'.includes(text) && at > 0,
  );
  const startsOdd = first === undefined || (first.kind === 'operator' && first.text !== '(' && !isChained);
  const isAttached = [...left, ...right].some(
    ({ kind, text, attached }) => attached && (kind === 'number' || text === '('),
  );
  if (!hasOperator || startsOdd || isAttached || right.length === 0) return undefined;
  const [l, r] = [evaluated(left), evaluated(right)];
  if (l === undefined || r === undefined) return undefined;
  const inexact = [...left, ...right].some(({ text }) => text === '/' || text === '%' || text.includes('.'));
  const decimals = Math.max(0, ...right.map(({ kind, text }) => (kind === 'number' ? decimalsOf(text) : 0)));
  const tolerance = inexact ? 10 ** -decimals : 1e-9;
  const close = (a: number, b: number) => Math.abs(a - b) < tolerance + 1e-9 * Math.abs(a);
  return {
    text: `${left.map(({ text }) => text).join(' ')} = ${right.map(({ text }) => text).join(' ')}`,
    left: l,
    right: r,
    // "0.2 * 100 = 20%" and "5 / 20 = 25": the sign is often left out or put in.
    holds: close(l, r) || (right.some(({ text }) => text === '%') && close(l, r * 100)),
  };
}

function decimalsOf(number: string): number {
  const point = number.indexOf('.');
  return point < 0 ? 0 : number.length - point - 1;
}

const rank: Readonly<Record<string, number>> = { '+': 1, '-': 1, '*': 2, '/': 2, negate: 3 };

/** Takes the last operator and its values off the stacks and puts the result on. `false` if a value is missing. */
function applyLast(pending: string[], values: number[]): boolean {
  const operator = pending.pop()!;
  const b = values.pop();
  const a = operator === 'negate' ? 0 : values.pop();
  if (a === undefined || b === undefined) return false;
  if (operator === '+') values.push(a + b);
  else if (operator === '*') values.push(a * b);
  else values.push(operator === '/' ? a / b : a - b);
  return true;
}

/** The value of an expression. `undefined` if it is not one. Precedence climbing without recursion over terms. */
function evaluated(tokens: readonly Token[]): number | undefined {
  if (tokens.length > 400) return undefined;
  const values: number[] = [];
  const pending: string[] = [];
  const apply = () => applyLast(pending, values);
  let expectsValue = true;
  for (const { kind, text } of tokens) {
    if (kind === 'number') {
      const value = numberOf(text);
      if (!expectsValue || value === undefined) return undefined;
      values.push(value);
      expectsValue = false;
    } else if (text === '(') {
      if (!expectsValue) return undefined;
      pending.push('(');
    } else if (text === ')') {
      while (pending.length > 0 && pending.at(-1) !== '(') if (!apply()) return undefined;
      if (expectsValue || pending.pop() !== '(') return undefined;
    } else if (text === '%') {
      if (expectsValue) return undefined;
      values.push(values.pop()! / 100);
    } else if (expectsValue) {
      if (text !== '-') return undefined;
      pending.push('negate');
    } else {
      while (pending.length > 0 && (rank[pending.at(-1)!] ?? 0) >= rank[text]!)
        if (!apply()) return undefined;
      pending.push(text);
      expectsValue = true;
    }
  }
  while (pending.length > 0) if (pending.at(-1) === '(' || !apply()) return undefined;
  const [value] = values;
  return !expectsValue && values.length === 1 && Number.isFinite(value) ? value : undefined;
}

function numberOf(text: string): number | undefined {
  if (text.includes(',') && !/^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/u.test(text)) return undefined;
  return Number(text.replaceAll(',', ''));
}
