/** White space of ASCII, including the four information separators. Shape: `[128]`. */
const asciiSpaces: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  /\s/.test(String.fromCharCode(code)) || (code >= 28 && code <= 31) ? 1 : 0,
);

/** Whether a character is white space. */
export function isSpace(code: number): boolean {
  return code < 128 ? asciiSpaces[code] === 1 : isUnusualSpace(code);
}

/** Trims white space, including the four information separators. */
export function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isUnusualSpace(code: number): boolean {
  return (
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

/** Whether a character is a control other than white space, a surrogate, private or a replacement character. */
export function isGarbled(code: number): boolean {
  if (code < 128) return code > 126 || (code < 32 && (asciiSpaces[code] === 0 || code >= 28));
  return code < 160 || (code >= 0xd800 && code <= 0xf8ff) || code >= 0xfff0;
}
