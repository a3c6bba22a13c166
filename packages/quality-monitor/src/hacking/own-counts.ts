const slots = 4096;
/** The lower bits of an entry count. The upper bits hold the stamp of the last clearing. */
const countBits = 10;
const mostCount = 2 ** countBits - 1;
const lastStamp = 2 ** 16 - 2 ** countBits;

/**
 * Counts hashes within one text. Clearing is instant. The table is much larger than texts, so collisions are rare.
 *
 * Use it through {@link countOwn} and {@link isCounted}.
 */
export class OwnCounts {
  readonly entries: Uint16Array<ArrayBuffer> = new Uint16Array(slots);
  /** Number of clearings, in the upper bits. Entries below it are empty. */
  stamp = 0;

  clear(): void {
    if (this.stamp === lastStamp) {
      this.entries.fill(0);
      this.stamp = 0;
    }
    this.stamp += mostCount + 1;
  }
}

// Both functions avoid branches, because new words are unpredictable.

/** Counts a hash. @returns Its earlier occurrences. */
export function countOwn(entries: Uint16Array, stamp: number, hash: number): number {
  const slot = (hash ^ (hash >>> 12)) & (slots - 1);
  const sinceCleared = entries[slot]! - stamp;
  const before = sinceCleared & ~(sinceCleared >> 31);
  entries[slot] = stamp + before + ((before - mostCount) >>> 31);
  return before;
}

/** Returns 1 for a counted hash, else 0. */
export function isCounted(entries: Uint16Array, stamp: number, hash: number): number {
  return (stamp - entries[(hash ^ (hash >>> 12)) & (slots - 1)]!) >>> 31;
}
