/** What zod calls kinds of values, in words. */
const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  tuple: 'a list',
  function: 'a function',
  undefined: 'nothing',
  never: 'nothing',
};

const bounds: Readonly<Record<string, string>> = {
  '>=': 'at least ',
  '>': 'more than ',
  '<=': 'at most ',
  '<': 'less than ',
  'exactly ': 'exactly ',
};

/** Letters of a received text that a message shows. */
const shownLetters = 40;

/** What came instead, in a few words. */
export function shownValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return shownText(value);
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'bigint') return `the bigint ${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  // Such an object is taken for an instance of a class.
  if (Object.hasOwn(value, 'constructor')) return 'an object with a field named constructor';
  return shownObject(value);
}

function shownText(text: string): string {
  return JSON.stringify(text.length > shownLetters ? `${text.slice(0, shownLetters)}…` : text);
}

/** An instance of a class by the name of the class, with its size or its message. */
function shownObject(value: object): string {
  const made: unknown = value.constructor;
  const name = typeof made === 'function' && made !== Object ? made.name : '';
  if (name === '') return 'an object';
  const kind = `${/^[AEIOU]/i.test(name) ? 'an' : 'a'} ${name}`;
  if (value instanceof Error) return `${kind} ${shownText(value.message)}`;
  const { length, size } = value as { readonly length?: unknown; readonly size?: unknown };
  const count = ArrayBuffer.isView(value) ? length : size;
  return typeof count === 'number' ? `${kind} of ${count}` : kind;
}

/** The size of a list or a text, which bounds are about. */
function sizeOf(value: unknown): string {
  const isSized = typeof value === 'string' || Array.isArray(value);
  return isSized ? String(value.length) : shownValue(value);
}

/** How zod's own messages begin, and what they say in words. What came follows. */
const wordings: readonly (readonly [
  pattern: RegExp,
  expected: (found: readonly string[]) => string,
  got?: (value: unknown) => string | undefined,
])[] = [
  [/^Invalid input: expected (.+?)(?:, received .*)?$/, ([, kind]) => kinds[kind!] ?? kind!, shownValue],
  [
    /^Invalid option: expected one of (.+)$/,
    ([, names]) => `one of ${names!.replaceAll('|', ', ')}`,
    shownValue,
  ],
  [
    /^Too (?:small|big): expected (?:number|int|bigint) to be (>=|<=|>|<)(\S+)$/,
    ([, bound, limit]) => `a number of ${bounds[bound!]}${limit}`,
    shownValue,
  ],
  [
    /^Too (?:small|big): expected \w+ to have (>=|<=|>|<|exactly )(\S+) (\w+)$/,
    ([, bound, limit, unit]) => `${bounds[bound!]}${limit} ${limit === '1' ? unit!.replace(/s$/, '') : unit}`,
    sizeOf,
  ],
  [/^Invalid number: must be (a multiple of .+)$/, ([, multiple]) => multiple!, shownValue],
  [/^Invalid string: must match pattern (.+)$/, ([, pattern]) => `text that matches ${pattern}`],
  [
    /^Invalid discriminator value\. Expected (.+)$/,
    // A member whose discriminator may be left out is listed with 'undefined'.
    ([, names]) => `one of ${names!.replace(" | 'undefined'", '').replaceAll(' | ', ', ')}`,
    shownValue,
  ],
  [/^Invalid input$/, () => 'another value', shownValue],
  [/^Invalid key in record$/, () => 'other keys'],
  [/^Invalid ([A-Za-z][\w-]*)$/, ([, format]) => `a valid ${format}`],
];

/**
 * zod's own message as what was expected and what came. Messages that a schema wrote itself stay.
 *
 * A text that has the wrong form or length is not shown: it may be a secret.
 */
export function inWords(message: string, value: unknown): string {
  for (const [pattern, expected, got] of wordings) {
    const found = pattern.exec(message);
    if (found === null) continue;
    const wanted = expected(found);
    const came = got?.(value);
    // Files of YAML write numbers and texts alike.
    const remedy = wanted === 'text' && Number.isFinite(value) ? `; write "${value}" in quotes` : '';
    return `expected ${wanted}${came === undefined ? '' : `, got ${came}`}${remedy}`;
  }
  return message;
}
