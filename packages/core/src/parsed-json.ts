/**
 * The value of JSON text. Linear.
 *
 * @throws SyntaxError for text that is not JSON, for a number that no computer holds, such as `1e999`, and for an object with one key twice,
 *   because readers differ in which of both they take.
 */
export function parsedJson(text: string): unknown {
  const value: unknown = /\de\+?\d{3}|\d{300}/i.test(text) ? JSON.parse(text, finite) : JSON.parse(text);
  if (keysIn(value) < writtenKeys(text)) throw new SyntaxError('an object has one key twice');
  return value;
}

function finite(_: string, value: unknown): unknown {
  if (value === Infinity || value === -Infinity) throw new SyntaxError('a number is too large');
  return value;
}

/** How many keys objects have, at every level. */
function keysIn(value: unknown): number {
  const rest: unknown[] = [value];
  let count = 0;
  while (rest.length > 0) {
    const one = rest.pop();
    if (typeof one !== 'object' || one === null) continue;
    const values = Object.values(one);
    if (!Array.isArray(one)) count += values.length;
    for (const each of values) rest.push(each);
  }
  return count;
}

const string = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

/** How many keys JSON text writes: strings before a colon. */
function writtenKeys(text: string): number {
  let count = 0;
  for (const [, colon] of text.matchAll(string)) if (colon !== undefined) count += 1;
  return count;
}
