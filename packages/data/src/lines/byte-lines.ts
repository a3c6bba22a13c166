const lineBreak = 0x0a;

/** Collects chunks until they hold whole lines. */
export class ByteLines {
  readonly maxLineBytes: number;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(maxLineBytes: number) {
    this.maxLineBytes = maxLineBytes;
  }

  /**
   * Returns the whole lines so far, without the last line break. `undefined` if the chunk has no line break. What follows them may be
   * too long: the next call or {@link ByteLines.rest} reports it, when these lines have been read.
   */
  push(chunk: Uint8Array): Uint8Array | 'too-long' | undefined {
    const end = chunk.lastIndexOf(lineBreak);
    const first = end < 0 ? chunk.length : chunk.indexOf(lineBreak);
    if (this.#bytes + first > this.maxLineBytes) return 'too-long';
    const whole = end < 0 ? undefined : this.#joined(chunk.subarray(0, end));
    if (whole !== undefined) this.#clear();
    // Copy, because the source may reuse the chunk's buffer.
    const rest = chunk.slice(end + 1);
    if (rest.length > 0) this.#pieces.push(rest);
    this.#bytes += rest.length;
    return whole;
  }

  /** Bytes after the last line break. */
  rest(): Uint8Array | 'too-long' {
    if (this.#bytes > this.maxLineBytes) return 'too-long';
    return this.#joined(new Uint8Array());
  }

  #clear(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }

  #joined(last: Uint8Array): Uint8Array {
    return this.#pieces.length === 0 ? last : joinedBytes([...this.#pieces, last]);
  }
}

/** Bytes of all pieces in one array. */
export function joinedBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Decodes all lines at once, and line by line only to find the one that is not UTF-8, which is `undefined`. */
export function decodedLines(bytes: Uint8Array): readonly (string | undefined)[] {
  try {
    return decoder.decode(bytes).split('\n');
  } catch {
    return splitLines(bytes).map((line) => {
      try {
        return decoder.decode(line);
      } catch {
        return undefined;
      }
    });
  }
}

/** Bytes between line breaks. */
function splitLines(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(lineBreak); end >= 0; end = bytes.indexOf(lineBreak, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return [...lines, bytes.subarray(start)];
}
