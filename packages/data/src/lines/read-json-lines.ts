import { orAborted, parseOptions, requireArguments } from '@rlp/core';
import * as z from 'zod';
import { ByteLines, decodedLines } from './byte-lines.ts';
import { type JsonLine, type JsonLinesOptions, LineParser } from './json-lines.ts';

/** Options of {@link readJsonLines}. */
export interface JsonLinesStreamOptions<Value = unknown> extends JsonLinesOptions<Value> {
  /** Maximum length of a line in bytes. A longer line is an error, so memory stays bounded. Default 256 MiB. */
  readonly maxLineBytes?: number | undefined;
  /** Ends the reading with its reason, even while it waits for a chunk. Default: no signal. */
  readonly signal?: AbortSignal | undefined;
}

/** Chunks of text or UTF-8 bytes, such as a file, a `Response.body` or an array. */
export type Chunks = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

const maxLineBytesSchema = z.int().positive().default(268_435_456);

/**
 * Reads JSON Lines from chunks of text or bytes. Memory holds one chunk and one line.
 *
 * Lines are those of {@link parseJsonLines}. Bytes that are not UTF-8 are an error. They are not replaced.
 *
 * @throws FormatError naming source, line and field of the first malformed line.
 * @throws the signal's reason.
 */
export function readJsonLines<Value = unknown>(
  chunks: Chunks,
  options: JsonLinesStreamOptions<Value> = {},
): AsyncIterableIterator<JsonLine<Value>> {
  requireArguments('readJsonLines', { chunks: 'given', options: 'object?' }, chunks, options);
  const { maxLineBytes, signal, ...others } = options;
  const owner = 'readJsonLines';
  const limit = parseOptions(`${owner}: maxLineBytes`, maxLineBytesSchema, maxLineBytes);
  return new JsonLinesReader(chunks, new LineParser<Value>(owner, others), { limit, signal });
}

const encoder = new TextEncoder();

/** An iterator instead of a generator, so that a line that is ready costs one promise. */
class JsonLinesReader<Value> implements AsyncIterableIterator<JsonLine<Value>> {
  readonly #source: AsyncIterator<string | Uint8Array> | Iterator<string | Uint8Array>;
  readonly #parser: LineParser<Value>;
  readonly #signal: AbortSignal | undefined;
  readonly #bytes: ByteLines;
  /** Lines of the current chunk. `undefined` for a line that is not UTF-8. */
  #lines: readonly (string | undefined)[] = [];
  #at = 0;
  #isLastChunk = false;
  #isDone = false;
  #filling: Promise<unknown> | undefined;

  constructor(
    chunks: Chunks,
    parser: LineParser<Value>,
    { limit, signal }: { readonly limit: number; readonly signal: AbortSignal | undefined },
  ) {
    this.#source =
      Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
    this.#parser = parser;
    this.#signal = signal;
    this.#bytes = new ByteLines(limit);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<JsonLine<Value>, undefined>> {
    // Concurrent calls are answered in order.
    while (this.#filling !== undefined) await this.#filling.catch(() => undefined);
    try {
      this.#signal?.throwIfAborted();
      while (!this.#isDone) {
        const line = this.#parseNext();
        if (line !== undefined) return { done: false, value: line };
        if (this.#isLastChunk) await this.return();
        else await this.#fill();
      }
    } catch (error) {
      await this.return();
      throw error;
    }
    return { done: true, value: undefined };
  }

  /** Closes the source. Does not wait for a source that hangs. */
  async return(): Promise<IteratorResult<JsonLine<Value>, undefined>> {
    if (!this.#isDone) {
      this.#isDone = true;
      const closed = Promise.resolve(this.#source.return?.()).catch(() => undefined);
      if (this.#filling === undefined && !this.#signal?.aborted) await closed;
    }
    return { done: true, value: undefined };
  }

  /** The next line of the chunk, or `undefined` after the last. */
  #parseNext(): JsonLine<Value> | undefined {
    while (this.#at < this.#lines.length) {
      const text = this.#lines[this.#at++];
      const isEnded = !this.#isLastChunk;
      const line = text === undefined ? this.#parser.undecodable(isEnded) : this.#parser.parse(text, isEnded);
      if (line !== undefined) return line;
    }
    return undefined;
  }

  async #fill(): Promise<void> {
    this.#filling = orAborted(Promise.resolve(this.#source.next()), this.#signal).then(({ done, value }) =>
      done === true ? this.#takeRest() : this.#take(value),
    );
    try {
      await this.#filling;
    } finally {
      this.#filling = undefined;
    }
  }

  #take(chunk: string | Uint8Array): void {
    const whole = this.#bytes.push(typeof chunk === 'string' ? encoder.encode(chunk) : chunk);
    this.#lines = whole === undefined ? [] : this.#decoded(whole);
    this.#at = 0;
  }

  #takeRest(): void {
    const rest = this.#bytes.rest();
    this.#lines = rest.length === 0 ? [] : this.#decoded(rest);
    this.#at = 0;
    this.#isLastChunk = true;
  }

  #decoded(bytes: Uint8Array | 'too-long'): readonly (string | undefined)[] {
    if (bytes === 'too-long') {
      throw this.#parser.failure(`it has more than ${this.#bytes.maxLineBytes} bytes`);
    }
    return decodedLines(bytes);
  }
}
