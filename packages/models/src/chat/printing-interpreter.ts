import { Interpreter } from '@huggingface/jinja';

import { type JsonStyle, pythonJson, pythonText } from './python-text.ts';
import { type Scope, templateValue, type Value } from './template-values.ts';

/** A part of a parsed template. */
export interface Statement {
  readonly type: string;
  /** What a loop runs over. */
  readonly iterable?: Statement;
  /** Parts that are printed one after another. */
  readonly body?: readonly Statement[];
  readonly alternate?: readonly Statement[];
  readonly defaultBlock?: readonly Statement[];
}

interface Operation extends Statement {
  readonly left: Statement;
  readonly right: Statement;
  readonly operator: { readonly value: string };
}

interface Argument extends Statement {
  readonly key?: { readonly value: string };
  readonly value?: Statement;
}

interface Filter extends Statement {
  readonly operand: Statement;
  readonly filter: {
    readonly value?: string;
    readonly callee?: { readonly value: string };
    readonly args?: readonly Argument[];
  };
}

/** A value in the place of the expression that it was computed from. */
interface Computed extends Statement {
  readonly type: 'Computed';
  readonly value: Value;
}

interface Runner {
  run(program: Statement): Value;
  evaluate(statement: Statement | undefined, scope: Scope): Value;
}

// The library's own declarations refer to files without their extensions, which TypeScript does not find.
const LibraryInterpreter = Interpreter as unknown as new (scope: Scope) => Runner;

/** What a template holds beside expressions. The library prints it itself. */
const unprinted = new Set(['Set', 'Macro', 'Comment', 'If', 'For', 'Break', 'Continue']);

/** Finds the expressions that a template prints. */
export function printedExpressions(program: Statement): ReadonlySet<Statement> {
  const printed = new Set<Statement>();
  const queue = [program];
  for (const { body, alternate, defaultBlock } of queue) {
    for (const statement of [body, alternate, defaultBlock].flatMap((block) => block ?? [])) {
      queue.push(statement);
      if (!unprinted.has(statement.type)) printed.add(statement);
    }
  }
  return printed;
}

/** Writes values as Python does. The library writes them as JavaScript does, or refuses. */
export class PrintingInterpreter extends LibraryInterpreter {
  readonly #printed: ReadonlySet<Statement>;

  constructor(scope: Scope, printed: ReadonlySet<Statement>) {
    super(scope);
    this.#printed = printed;
  }

  override evaluate(statement: Statement | undefined, scope: Scope): Value {
    const value = this.#evaluate(statement, scope);
    return statement && this.#printed.has(statement) ? textValue(value) : value;
  }

  #evaluate(statement: Statement | undefined, scope: Scope): Value {
    switch (statement?.type) {
      case 'Computed':
        return (statement as Computed).value;
      case 'For':
        return this.#loop(statement, scope);
      case 'FilterExpression':
        return this.#filter(statement as Filter, scope);
      case 'BinaryExpression':
        return this.#join(statement as Operation, scope);
      default:
        return super.evaluate(statement, scope);
    }
  }

  /** A loop runs over the characters of a text, too. */
  #loop(statement: Statement, scope: Scope): Value {
    const { iterable } = statement;
    if (!iterable || iterable.type === 'SelectExpression' || iterable.type === 'Computed')
      return super.evaluate(statement, scope);
    const value = this.evaluate(iterable, scope);
    if (value.type !== 'StringValue')
      return super.evaluate({ ...statement, iterable: computed(value) }, scope);
    const characters = templateValue([...(value.value as string)]);
    return this.evaluate({ ...statement, iterable: computed(characters) }, scope);
  }

  #filter(statement: Filter, scope: Scope): Value {
    const { value: plain, callee, args = [] } = statement.filter;
    const operand = this.evaluate(statement.operand, scope);
    switch (plain ?? callee?.value) {
      case 'string':
        return textValue(operand);
      case 'tojson':
        return templateValue(pythonJson(operand, this.#jsonStyle(args, scope)));
      case 'join': {
        if (operand.type !== 'ArrayValue') break;
        const texts = templateValue((operand.value as Value[]).map(pythonText));
        return super.evaluate({ ...statement, operand: computed(texts) } as Filter, scope);
      }
    }
    return super.evaluate({ ...statement, operand: computed(operand) } as Filter, scope);
  }

  /** Arguments of `tojson` in transformers: `ensure_ascii`, `indent`, `separators` and `sort_keys`. */
  #jsonStyle(args: readonly Argument[], scope: Scope): JsonStyle {
    const given = (name: string, place: number): unknown => {
      const named = args.find(({ type, key }) => type === 'KeywordArgumentExpression' && key?.value === name);
      const positional = args[place]?.type === 'KeywordArgumentExpression' ? undefined : args[place];
      const argument = named?.value ?? positional;
      return argument && this.evaluate(argument, scope).value;
    };
    const indent = given('indent', 1) ?? undefined;
    if (indent !== undefined && !(typeof indent === 'number' && indent >= 0 && indent <= maxIndent))
      throw new Error(`tojson: expected an indent of 0 to ${maxIndent}, got ${String(indent)}`);
    const separators = (given('separators', 2) as readonly Value[] | null | undefined)?.map(pythonText);
    if (separators && separators.length !== 2)
      throw new Error(`tojson: expected two separators, got ${separators.length}`);
    return {
      indent,
      onlyAscii: given('ensure_ascii', 0) === true,
      sortKeys: given('sort_keys', 3) === true,
      separators: (separators as [string, string] | undefined) ?? [indent === undefined ? ', ' : ',', ': '],
    };
  }

  /** Operators that make texts: `~`, and `+` with a text. */
  #join(statement: Operation, scope: Scope): Value {
    const operator = statement.operator.value;
    if (operator !== '~' && operator !== '+') return super.evaluate(statement, scope);
    const left = this.evaluate(statement.left, scope);
    const right = this.evaluate(statement.right, scope);
    if (operator === '~') return templateValue(pythonText(left) + pythonText(right));
    const other = left.type === 'StringValue' ? right : right.type === 'StringValue' ? left : undefined;
    if (other && typeof other.value === 'object')
      throw new Error(`cannot add ${other.type} to a text; convert it with the filter tojson or string`);
    return super.evaluate({ ...statement, left: computed(left), right: computed(right) } as Operation, scope);
  }
}

/** Spaces of a level of JSON. */
const maxIndent = 16;

function textValue(value: Value): Value {
  return value.type === 'StringValue' ? value : templateValue(pythonText(value));
}

function computed(value: Value): Computed {
  return { type: 'Computed', value };
}
