import { ArgumentError } from '@rlp/core';

/**
 * Reads what stands between `<tag>` and `</tag>`.
 *
 * @returns A function from text to the trimmed content of the last complete pair (its innermost opening), or
 *   `undefined` where there is none.
 * @throws `ArgumentError` for a name that is not a plain word.
 */
export function extractTag(tag: string): (text: string) => string | undefined {
  checkTagName(tag);
  const opening = `<${tag}>`;
  const closing = `</${tag}>`;
  return (text) => {
    const end = text.lastIndexOf(closing);
    const start = end < 0 ? -1 : text.lastIndexOf(opening, end - opening.length);
    return start < 0 ? undefined : text.slice(start + opening.length, end).trim();
  };
}

/** Tag names go into text as they are, so only plain words are taken. */
export function checkTagName(tag: string): void {
  if (/^[\w-]+$/.test(tag)) return;
  throw new ArgumentError(
    `tags must be named by letters, digits, "_" and "-", without brackets, got ${JSON.stringify(tag)}`,
  );
}
