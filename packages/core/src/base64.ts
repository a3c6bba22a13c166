/** Bytes as base64, wherever JavaScript runs. */
export function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += 8192) {
    // Fifteen times faster than spreading.
    text += String.fromCharCode.apply(null, bytes.subarray(start, start + 8192) as unknown as number[]);
  }
  return btoa(text);
}

/** The bytes that base64 stands for. @throws DOMException for text that is not base64. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  // Many times faster than `Uint8Array.from` with a function.
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
