/** Hash of a text: two halves of 32 bits. */
export interface TextHash {
  /** 32 bits. */
  low: number;
  /** 32 further bits. */
  high: number;
}

/** Hashes a text. The seed tells apart texts that mean different things. Multiplies and mixes as MurmurHash3 does. */
export function hashText(text: string, seed = 0): TextHash {
  let low = seed ^ 0x9e3779b9;
  let high = seed ^ 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x9e3779b1);
    low ^= low >>> 15;
    high = Math.imul(high ^ code, 0x5f356495);
    high ^= high >>> 17;
  }
  return { low: mixedHash(low ^ text.length), high: mixedHash(high ^ low) };
}

/** A hash spread over all of 32 bits, so that any of them may be taken. It is the finalizer of MurmurHash3. */
export function mixedHash(hash: number): number {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
