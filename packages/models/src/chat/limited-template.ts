import { parse, tokenize } from '@huggingface/jinja';

import { PrintingInterpreter, printedExpressions, type Statement } from './printing-interpreter.ts';
import { dictFunction, LibraryScope, type Scope, templateValue, type Value } from './template-values.ts';

/** Characters of a template. The longest known chat templates have 17,000. */
const maxTemplate = 100_000;
/** White space in a row, for which the library's lexer takes quadratic time. */
const maxSpace = 2000;
/** Elements of a `range`. */
const maxRange = 100_000;
/** Steps of a rendering, and further ones per character and per entry of what is rendered. */
const steps = { base: 500_000, perCharacter: 10, perEntry: 1000 };
/** Steps of a turn of a loop, for which the library makes a dozen values. */
const stepsPerTurn = 20;
/** Size of one value that a template makes, and how much larger than what is rendered it may be. */
const values = { base: 1_000_000, perCharacter: 10 };

/** Functions that templates call. They replace the library's, which read the system clock and make ranges of any length. */
export interface TemplateFunctions {
  readonly strftime_now: (format: string) => string;
}

/**
 * Compiles a template that somebody else wrote.
 *
 * @throws Error if it is too long or no valid Jinja.
 */
export function compileTemplate(
  source: string,
  functions: TemplateFunctions,
): (variables: Readonly<Record<string, unknown>>) => string {
  if (source.length > maxTemplate) {
    throw new Error(`it has ${source.length} characters, and at most ${maxTemplate} are read`);
  }
  if ([...source.matchAll(/\s+/g)].some(([space]) => space.length > maxSpace)) {
    throw new Error(`it has more than ${maxSpace} characters of white space in a row`);
  }
  const program: Statement = parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }));
  const printed = printedExpressions(program);
  return (variables) => {
    const scope = new LibraryScope();
    scope.setVariable('dict', dictFunction());
    const globals = { ...constants, range, ...functions, ...variables };
    for (const [name, value] of Object.entries(globals)) scope.setVariable(name, templateValue(value));
    const interpreter = new LimitedInterpreter(scope, printed, sizeOf(variables));
    return interpreter.run(program).value as string;
  };
}

const constants = {
  false: false,
  true: true,
  none: null,
  False: false,
  True: true,
  None: null,
  raise_exception: (message: string) => {
    throw new Error(message);
  },
};

function range(first: number, second?: number, step = 1): number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  if (step === 0) throw new Error('range() step must not be zero');
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!(length <= maxRange)) throw new Error(`range() of ${length} numbers, at most ${maxRange} are allowed`);
  return Array.from({ length }, (_, index) => start + index * step);
}

interface Size {
  readonly characters: number;
  readonly entries: number;
}

/** Size of plain data. */
function sizeOf(data: unknown): Size {
  const total = { characters: 0, entries: 0 };
  const queue: unknown[] = [data];
  for (const value of queue) {
    total.entries += 1;
    if (typeof value === 'string') total.characters += value.length;
    else if (typeof value === 'object' && value !== null) {
      for (const each of Object.values(value)) queue.push(each);
    }
  }
  return total;
}

/** Counts what a rendering does, and stops it when it does too much. So a template can neither hang nor fill the memory. */
class LimitedInterpreter extends PrintingInterpreter {
  readonly #maxSteps: number;
  readonly #maxSize: number;
  readonly #loops = new WeakSet<object>();
  readonly #sizes = new WeakMap<object, number>();
  #steps = 0;

  constructor(scope: Scope, printed: ReadonlySet<Statement>, { characters, entries }: Size) {
    super(scope, printed);
    this.#maxSteps = steps.base + steps.perCharacter * characters + steps.perEntry * entries;
    this.#maxSize = values.base + values.perCharacter * (characters + entries);
  }

  override evaluate(statement: Statement | undefined, scope: Scope): Value {
    if (statement?.type === 'For' && statement.iterable) this.#loops.add(statement.iterable);
    const value = super.evaluate(statement, scope);
    const size = this.#sizeOf(value);
    if (size > this.#maxSize)
      throw new Error(`the template makes a value of more than ${this.#maxSize} characters`);
    // A loop takes steps for each element, even if it does nothing.
    const isLooped = statement !== undefined && this.#loops.has(statement) && Array.isArray(value.value);
    this.#steps += 1 + size / 512 + (isLooped ? stepsPerTurn * (value.value as unknown[]).length : 0);
    if (this.#steps > this.#maxSteps) throw new Error(`the template takes more than ${this.#maxSteps} steps`);
    return value;
  }

  /** Characters of a value as text, about. Values that hold one another several times count several times. */
  #sizeOf(value: Value): number {
    const content: unknown = value.value;
    if (typeof content === 'string') return content.length;
    if (typeof content !== 'object' || content === null) return 0;
    const known = this.#sizes.get(content);
    if (known !== undefined) return known;
    this.#sizes.set(content, 1); // while its parts are counted, for values that hold themselves
    let size = 1;
    const parts = content instanceof Map ? content.values() : Array.isArray(content) ? content : [];
    for (const part of parts as Iterable<Value>) size += 2 + this.#sizeOf(part);
    // What a namespace holds changes.
    if (value.type === 'NamespaceValue') this.#sizes.delete(content);
    else this.#sizes.set(content, size);
    return size;
  }
}
