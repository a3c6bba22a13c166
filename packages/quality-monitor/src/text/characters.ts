/**
 * Kinds of characters. White space is `space`, `newline` and `separator` (the four information separators).
 *
 * `letter` includes the apostrophe. `markup`, `symbol` and `control` end words. `digit` and `underscore` are parts of words.
 * `unusual` is everything beyond ASCII, see {@link unusualKind}.
 */
export const kinds = {
  space: 0,
  newline: 1,
  separator: 2,
  letter: 3,
  markup: 4,
  symbol: 5,
  control: 6,
  digit: 7,
  underscore: 8,
  unusual: 9,
  hidden: 10,
} as const;

/** Kind of each ASCII character. Shape: `[128]`. */
export const asciiKinds: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  asciiKind(String.fromCharCode(code)),
);

function asciiKind(character: string): number {
  if (/[A-Za-z']/.test(character)) return kinds.letter;
  if (/[0-9]/.test(character)) return kinds.digit;
  if (character === '_') return kinds.underscore;
  if (character === '\n') return kinds.newline;
  if (/\s/.test(character)) return kinds.space;
  if ('<>#*|`{}[]\\~'.includes(character)) return kinds.markup;
  if (character > '~') return kinds.control;
  if (character >= ' ') return kinds.symbol;
  return character.charCodeAt(0) >= 28 ? kinds.separator : kinds.control;
}

/** Kind of a character beyond ASCII: `letter`, `space`, `symbol`, or `hidden` if it shows nothing or repeats a mark. */
export function unusualKind(code: number, previous: number): number {
  if (isInvisible(code) || (isCombining(code) && isCombining(previous))) return kinds.hidden;
  if (code === 0xa0 || (code >= 0x2000 && code <= 0x200a) || code === 0x3000 || code === 0x85) {
    return kinds.space;
  }
  return code >= 0x2010 && code <= 0x205e ? kinds.symbol : kinds.letter;
}

/** Trims white space, including the four information separators. */
export function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code < 128 ? asciiKinds[code]! <= kinds.separator : isUnusualSpace(code);
}

/** Whether a character beyond ASCII is white space. */
export function isUnusualSpace(code: number): boolean {
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

/** Whether a character beyond ASCII is a control, a surrogate, private or a replacement character. */
export function isGarbled(code: number): boolean {
  return code < 160 || (code >= 0xd800 && code <= 0xf8ff) || code >= 0xfff0;
}

/** Whether a character is invisible: zero-width, direction, soft hyphen, tag, variation, private use, C1 control. */
function isInvisible(code: number): boolean {
  return (
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    (code >= 0xfe00 && code <= 0xfe0e) ||
    (code >= 0xe000 && code <= 0xf8ff) ||
    (code >= 0xfff0 && code <= 0xffff) ||
    (code >= 0x80 && code <= 0x9f && code !== 0x85) ||
    [0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180e, 0x3164, 0xfeff, 0xffa0, 0xdb40].includes(
      code,
    )
  );
}

function isCombining(code: number): boolean {
  return code >= 0x300 && code <= 0x36f;
}
