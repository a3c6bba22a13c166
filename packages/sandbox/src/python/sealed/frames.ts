/** A message of the channels between worlds: its length, then JSON. */
export function frameOf(value: unknown): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(value));
  const frame = new Uint8Array(8 + text.length);
  new DataView(frame.buffer).setUint32(0, text.length, true);
  frame.set(text, 8);
  return frame;
}

/** Reads what the tests' world wrote as its verdict. Anything but a whole message fails the tests. */
export function readVerdict(parts: readonly Uint8Array[]): {
  readonly passed: boolean;
  readonly reason: string;
} {
  try {
    const value = JSON.parse(new TextDecoder().decode(joined(parts).subarray(8)));
    return { passed: value.passed === true, reason: String(value.reason ?? '') };
  } catch {
    return { passed: false, reason: 'the tests gave no verdict' };
  }
}

/** Bytes of several parts. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 1 ? parts[0]! : new Uint8Array(Buffer.concat(parts));
}
