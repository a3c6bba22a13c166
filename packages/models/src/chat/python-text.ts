import type { Value } from './template-values.ts';

/** Text of a value as Python prints it, with `str`. */
export function pythonText(value: Value): string {
  if (value.type === 'StringValue') return value.value as string;
  return value.type === 'UndefinedValue' ? '' : pythonSource(value);
}

/** Text of a value inside a list, with `repr`. */
function pythonSource({ type, value }: Value, depth = 1): string {
  requireDepth(depth);
  switch (type) {
    case 'StringValue':
      return quoted(value as string);
    case 'FloatValue':
      return floatText(value as number, 'inf', 'nan');
    case 'BooleanValue':
      return value ? 'True' : 'False';
    case 'NullValue':
      return 'None';
    case 'UndefinedValue':
      return 'Undefined';
    case 'ArrayValue':
      return `[${sources(value as Value[], depth).join(', ')}]`;
    case 'TupleValue':
      return `(${sources(value as Value[], depth).join(', ')})`;
    case 'NamespaceValue':
      return `<Namespace ${dictionary(value as Map<string, Value>, depth)}>`;
    default:
      return value instanceof Map ? dictionary(value as Map<string, Value>, depth) : String(value);
  }
}

function sources(list: readonly Value[], depth: number): string[] {
  return list.map((value) => pythonSource(value, depth + 1));
}

function dictionary(entries: ReadonlyMap<string, Value>, depth: number): string {
  const texts = [...entries].map(([key, value]) => `${quoted(key)}: ${pythonSource(value, depth + 1)}`);
  return `{${texts.join(', ')}}`;
}

/** Lists within lists. Python refuses some more. */
const maxDepth = 500;

function requireDepth(depth: number): void {
  if (depth > maxDepth) throw new Error(`cannot print values nested more than ${maxDepth} levels deep`);
}

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

/** A text in the quotes that Python chooses. What cannot be seen is escaped. */
function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replaceAll(/[\\'\p{C}\p{Z}]/gu, (character) => {
    if (character === ' ') return character;
    if (character === "'") return quote === "'" ? "\\'" : character;
    return escapes[character] ?? escaped(character.codePointAt(0)!);
  });
  return quote + inner + quote;
}

function escaped(code: number): string {
  const digits = code.toString(16);
  if (code < 0x100) return `\\x${digits.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}

/** The shortest digits that give the number, as JavaScript writes them too, with an exponent where Python has one. */
function floatText(value: number, infinity: string, none: string): string {
  if (Number.isNaN(value)) return none;
  if (!Number.isFinite(value)) return value < 0 ? `-${infinity}` : infinity;
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [digits, power] = value.toExponential().split('e') as [string, string];
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** How `json.dumps` writes. */
export interface JsonStyle {
  /** Spaces of each level. `undefined`: all in one line. */
  readonly indent: number | undefined;
  readonly onlyAscii: boolean;
  readonly sortKeys: boolean;
  /** What separates entries, and a key from its value. */
  readonly separators: readonly [string, string];
}

/** JSON of a value as Python writes it. */
export function pythonJson({ type, value }: Value, style: JsonStyle, depth = 1): string {
  requireDepth(depth);
  switch (type) {
    case 'StringValue':
      return jsonString(value as string, style);
    case 'FloatValue':
      return floatText(value as number, 'Infinity', 'NaN');
    case 'NullValue':
    case 'UndefinedValue':
      return 'null';
    case 'IntegerValue':
    case 'BooleanValue':
      return String(value);
  }
  if (Array.isArray(value)) {
    const entries = (value as Value[]).map((each) => pythonJson(each, style, depth + 1));
    return enclosed('[]', entries, style, depth);
  }
  if (!(value instanceof Map)) throw new Error(`Cannot convert to JSON: ${type}`);
  const named = [...(value as Map<string, Value>)];
  if (style.sortKeys) named.sort(([a], [b]) => (a < b ? -1 : 1));
  const entries = named.map(
    ([key, each]) => jsonString(key, style) + style.separators[1] + pythonJson(each, style, depth + 1),
  );
  return enclosed('{}', entries, style, depth);
}

function jsonString(text: string, { onlyAscii }: JsonStyle): string {
  const json = JSON.stringify(text);
  if (!onlyAscii) return json;
  return json.replaceAll(
    /[\x7f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Entries between brackets. Empty ones stay in one line. */
function enclosed(
  [open, close]: string,
  entries: readonly string[],
  { indent, separators }: JsonStyle,
  depth: number,
): string {
  if (indent === undefined || entries.length === 0) return open + entries.join(separators[0]) + close;
  const line = (level: number) => `\n${' '.repeat(indent * level)}`;
  return open + line(depth) + entries.join(separators[0] + line(depth)) + line(depth - 1) + close;
}
