const initialSlots = 1024;
const keptSlots = 1 << 16;
const fields = 4;

/**
 * Counts the words of a text that differ, in time linear in its length and without a string per word.
 *
 * An open-addressing table of spans of the text: stamp, hash, beginning, length. Entries are compared character by
 * character, so equal hashes are no error; where so many words share one that the table would slow down, it says so.
 */
export class WordTable {
  #slots = new Int32Array(initialSlots * fields);
  #mask = initialSlots - 1;
  #stamp = 0;
  #text = '';
  #unique = 0;
  #patience = 0;

  /** Words entered since {@link WordTable.begin} that differ. */
  get unique(): number {
    return this.#unique;
  }

  /** Forgets everything; the words to come are spans of `text`. */
  begin(text: string): void {
    this.#text = text;
    this.#unique = 0;
    this.#patience = 64;
    this.#stamp = (this.#stamp + 1) | 0;
    if (this.#stamp === 0 || this.#mask >= keptSlots) {
      this.#resize(this.#stamp === 0 ? this.#mask + 1 : initialSlots);
      this.#stamp = 1;
    }
  }

  /** Lets go of the text. */
  end(): void {
    this.#text = '';
  }

  /** Enters the word `text[start, end)`. `'crowded'`: too many words share a hash; the count is not to be trusted. */
  enter(start: number, end: number, hash: number): 'entered' | 'crowded' {
    const length = end - start;
    const slots = this.#slots;
    this.#patience += 8;
    let slot = (hash ^ (hash >>> 15)) & this.#mask;
    while (slots[slot * fields] === this.#stamp) {
      const entry = slot * fields;
      if (
        slots[entry + 1] === hash &&
        slots[entry + 3] === length &&
        this.#same(slots[entry + 2]!, start, length)
      ) {
        return 'entered';
      }
      slot = (slot + 1) & this.#mask;
      this.#patience -= 1;
      if (this.#patience < 0) return 'crowded';
    }
    this.#write(slot, hash, start, length);
    this.#unique += 1;
    if (this.#unique * 2 > this.#mask) this.#grow();
    return 'entered';
  }

  #write(slot: number, hash: number, start: number, length: number): void {
    const entry = slot * fields;
    this.#slots[entry] = this.#stamp;
    this.#slots[entry + 1] = hash;
    this.#slots[entry + 2] = start;
    this.#slots[entry + 3] = length;
  }

  #same(a: number, b: number, length: number): boolean {
    const text = this.#text;
    for (let k = 0; k < length; k++) {
      if (text.charCodeAt(a + k) !== text.charCodeAt(b + k)) return false;
    }
    return true;
  }

  #resize(count: number): void {
    this.#slots = new Int32Array(count * fields);
    this.#mask = count - 1;
  }

  #grow(): void {
    const old = this.#slots;
    this.#resize((this.#mask + 1) * 4);
    for (let entry = 0; entry < old.length; entry += fields) {
      if (old[entry] !== this.#stamp) continue;
      const hash = old[entry + 1]!;
      let slot = (hash ^ (hash >>> 15)) & this.#mask;
      while (this.#slots[slot * fields] === this.#stamp) slot = (slot + 1) & this.#mask;
      this.#write(slot, hash, old[entry + 2]!, old[entry + 3]!);
    }
  }
}
