import { callback, FormatError, messageOf, OptionsError, parseOptions, type Schema } from '@rlp/core';
import * as z from 'zod';

/** Schema of {@link JsonLinesOptions}. `schema` is checked when it is used. */
export const jsonLinesSchema = z.strictObject({
  /** Name of the text in errors, such as its file. Default `'JSON Lines'`. */
  source: z.string().min(1).default('JSON Lines'),
  /** Description of the expected content of a line, for errors. Default `'one JSON value per line'`. */
  expected: z.string().min(1).default('one JSON value per line'),
  /** `'skip'` leaves out a last line that is cut short: without line break and not JSON. Default `'throw'`. */
  tornLine: z.enum(['throw', 'skip']).default('throw'),
  /** Receives the error of each malformed line, which is left out. Default: the first error is thrown. */
  onMalformed: callback<(error: FormatError) => void>().optional(),
});

/** Options of {@link parseJsonLines}. */
export interface JsonLinesOptions<Value = unknown> extends z.input<typeof jsonLinesSchema> {
  /** Schema of each line's value: zod or another Standard Schema. Default: any JSON value. */
  readonly schema?: Schema<Value> | undefined;
}

/** One line with its value. */
export interface JsonLine<Value = unknown> {
  /** Line number, from 1. Blank lines count. */
  readonly number: number;
  readonly text: string;
  readonly value: Value;
}

/**
 * Reads JSON Lines from a text. Lines end with `\n` or `\r\n`. Blank lines and byte order marks are skipped.
 *
 *     for (const { number, value } of parseJsonLines(text, { source: 'tasks.jsonl', schema })) …
 *
 * @throws FormatError naming source, line and field of the first malformed line.
 * @throws OptionsError for invalid options.
 */
export function* parseJsonLines<Value = unknown>(
  text: string,
  options: JsonLinesOptions<Value> = {},
): Generator<JsonLine<Value>, void, undefined> {
  const parser = new LineParser<Value>('parseJsonLines', options);
  for (let start = 0; start < text.length; ) {
    const lineBreak = text.indexOf('\n', start);
    const end = lineBreak < 0 ? text.length : lineBreak;
    const line = parser.parse(text.slice(start, end), lineBreak >= 0);
    if (line !== undefined) yield line;
    start = end + 1;
  }
}

/** Parses lines in order and counts them. */
export class LineParser<Value> {
  readonly #options: z.output<typeof jsonLinesSchema>;
  readonly #schema: Schema<Value> | undefined;
  #number = 0;

  constructor(owner: string, { schema, ...options }: JsonLinesOptions<Value>) {
    this.#options = parseOptions(owner, jsonLinesSchema, options);
    this.#schema = schema;
  }

  /**
   * Parses one line. Returns `undefined` for a line that is left out.
   *
   * @param isEnded - Whether a line break follows.
   */
  parse(given: string, isEnded: boolean): JsonLine<Value> | undefined {
    this.#number += 1;
    // `trim` removes a byte order mark, too.
    const text = given.trim();
    if (text === '') return undefined;
    try {
      return { number: this.#number, text, value: this.#valueOf(text) };
    } catch (error) {
      return this.#malformed(error, isEnded);
    }
  }

  /** Counts a line without parsing it. Returns whether it has a value. */
  skip(text: string | undefined): boolean {
    this.#number += 1;
    return text === undefined || text.trim() !== '';
  }

  /** Handles a line that is not UTF-8 text. */
  undecodable(isEnded: boolean): undefined {
    this.#number += 1;
    return this.#malformed(new SyntaxError('it is not UTF-8; save the file as UTF-8'), isEnded);
  }

  /** Error that names the line after the last one. */
  failure(problem: string): FormatError {
    return this.#error(this.#number + 1, problem);
  }

  #valueOf(text: string): Value {
    const value = parsed(text);
    return this.#schema === undefined ? (value as Value) : parseOptions('line', this.#schema, value);
  }

  #malformed(cause: unknown, isEnded: boolean): undefined {
    const { tornLine, onMalformed } = this.#options;
    if (!isEnded && tornLine === 'skip' && cause instanceof SyntaxError) return;
    const isKnown = cause instanceof SyntaxError || cause instanceof OptionsError;
    if (!isKnown) throw cause;
    const problem = cause instanceof OptionsError ? cause.issues.join('; ') : messageOf(cause);
    const error = this.#error(this.#number, problem, cause);
    if (onMalformed === undefined) throw error;
    onMalformed(error);
  }

  #error(number: number, problem: string, cause?: unknown): FormatError {
    const { source, expected } = this.#options;
    return new FormatError(`${source}, line ${number}: expected ${expected}: ${problem}`, { cause });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SyntaxError(`${messageOf(cause)}; correct or remove the line`, { cause });
  }
}
