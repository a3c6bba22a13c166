import { type FileHandle, open } from 'node:fs/promises';

/** Bytes that are read at once. Few, because nothing else happens while their lines are parsed. */
const chunkBytes = 262_144;
/** Last bytes read that are kept, at most. */
const keptBytes = 256;

/** Reads the whole lines that were added to a file. */
export class FollowedFile {
  readonly path: string;
  #offset = 0;
  #lines = 0;
  /** The last bytes that were read. Others in their place belong to another file. */
  #last = Buffer.alloc(0);

  constructor(path: string) {
    this.path = path;
  }

  /** Lines that were read. */
  get lines(): number {
    return this.#lines;
  }

  /**
   * Calls `line` with each line that was finished since the last call. A line without its end is left for later.
   *
   * @param restart - Called first if somebody wrote the file anew: it is shorter, or has other bytes where the last ones were read.
   * @returns Whether anything was read. `false` for a file that is not there.
   */
  async read(line: (text: string, number: number) => void, restart: () => void): Promise<boolean> {
    const file = await open(this.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw error;
    });
    if (file === undefined) return false;
    try {
      const { size } = await file.stat();
      if (size < this.#offset || !(await this.#continues(file))) {
        [this.#offset, this.#lines, this.#last] = [0, 0, Buffer.alloc(0)];
        restart();
      }
      const from = this.#offset;
      let buffer = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(1, size - from)));
      for (let end = -1; this.#offset < size; ) {
        const { bytesRead } = await file.read(buffer, 0, buffer.length, this.#offset);
        end = buffer.subarray(0, bytesRead).lastIndexOf(0x0a);
        if (end < 0 && bytesRead === buffer.length && this.#offset + bytesRead < size) {
          buffer = Buffer.allocUnsafe(2 * buffer.length);
          continue;
        }
        if (end < 0) break;
        this.#offset += end + 1;
        this.#last = Buffer.from(buffer.subarray(Math.max(0, end + 1 - keptBytes), end + 1));
        for (const text of buffer.toString('utf8', 0, end).split('\n')) line(text, ++this.#lines);
      }
      return this.#offset > from;
    } finally {
      await file.close();
    }
  }

  async #continues(file: FileHandle): Promise<boolean> {
    const { length } = this.#last;
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, this.#offset - length);
    return buffer.equals(this.#last);
  }
}
