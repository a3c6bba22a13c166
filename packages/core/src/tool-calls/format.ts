import { isRecord } from '../is-record.ts';
import { parsedJson } from '../parsed-json.ts';

/** A call as a policy wrote it. */
export interface WrittenCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The id that the policy gave it, in formats that have ids. */
  readonly id?: string | undefined;
}

/** A response taken apart. */
export interface WrittenCalls {
  /** The text without its calls. */
  readonly text: string;
  readonly calls: readonly WrittenCall[];
}

/** What is known of the tools when a response is read. */
export interface OfferedTools {
  /** Whether a call of this tool counts. A call of another one stays part of the text. */
  isOffered(tool: string): boolean;
  /** Whether a parameter is text, for formats that write all values without quotation marks. */
  isText(tool: string, parameter: string): boolean;
}

/** A way of writing calls in a response, as one family of models learned it. */
export interface ToolCallFormat {
  /** Text that no response has unless it calls. A format without a mark has calls only if the whole response is calls. */
  readonly mark?: string | undefined;
  /** How a response or a call begins, if formats have one mark in common or something stands before it. Default: the mark. */
  readonly begin?: RegExp | undefined;
  /** Takes the calls out of a response. What is malformed or not offered stays part of the text. In linear time. */
  read(response: string, tools: OfferedTools): WrittenCalls;
  /** The calls as text that `read` reads. */
  write(calls: readonly WrittenCall[]): string;
}

/** A call from parsed JSON, or `undefined`. Models write the arguments under several names, some as text. */
export function callOf(json: unknown): WrittenCall | undefined {
  if (!isRecord(json) || typeof json.name !== 'string') return undefined;
  if (json.arguments !== undefined && json.parameters !== undefined) return undefined;
  const given = json.arguments ?? json.parameters ?? {};
  const args = typeof given === 'string' ? parsed(given) : given;
  return isRecord(args) ? { name: json.name, arguments: args } : undefined;
}

/** The value of JSON text, or `undefined`. */
export function parsed(json: string): unknown {
  try {
    return parsedJson(json);
  } catch {
    return undefined;
  }
}

/** A record from JSON text, or `undefined`. */
export function parsedRecord(json: string): Readonly<Record<string, unknown>> | undefined {
  const value = parsed(json);
  return isRecord(value) ? value : undefined;
}

/**
 * Where the JSON object or list that begins at `from` ends, one past its last character. `-1` if it never does.
 * Strings are skipped, so brackets in them do not count.
 */
export function jsonEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      at = stringEnd(text, at);
      if (at < 0) return -1;
    } else if (character === '{' || character === '[') depth += 1;
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1;
  }
  return -1;
}

/** Index of the quotation mark that closes the string opened at `from`, or `-1`. */
function stringEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return -1;
}

/** How calls between an opening and a closing mark are read. */
export interface Marked {
  readonly open: string;
  readonly close: string;
  /** The call between the marks, or `undefined` if it is not a call. */
  readonly read: (inside: string) => WrittenCall | undefined;
  /** How a call goes on whose arguments may hold marks as they are. Nothing in it is a call. Default: arguments hold none. */
  readonly begun?: RegExp | undefined;
  /** Whether a call is one JSON value, whose text may hold marks. Default: it may be anything. */
  readonly isJson?: boolean | undefined;
}

/**
 * Takes calls between marks out of a text. The last mark may be unclosed, because a response ends there if its closing
 * mark is a stop token. Each opening mark counts only if no other stands between it and its closing mark, but in JSON's text.
 */
export function takeMarked(text: string, marked: Marked, tools: OfferedTools): WrittenCalls {
  const { open, close, read, begun, isJson } = marked;
  const calls: WrittenCall[] = [];
  let rest = '';
  let from = 0;
  // Ends at the first mark without whole JSON behind it, so that no text is read twice.
  for (let start = isJson ? text.indexOf(open) : -1; start >= 0; start = text.indexOf(open, from)) {
    const end = jsonEnd(text, start + open.length);
    if (end < 0) break;
    const behind = end + text.slice(end).search(/\S|$/);
    const isClosed = behind === text.length || text.startsWith(close, behind);
    const found = isClosed ? read(text.slice(start + open.length, end)) : undefined;
    if (found === undefined || !tools.isOffered(found.name)) break;
    calls.push(found);
    rest += text.slice(from, start);
    from = Math.min(text.length, behind + close.length);
  }
  const take = (segment: string): string | undefined => {
    const [first, start] = [segment.indexOf(open), segment.lastIndexOf(open)];
    const isWithin = first < start && begun?.test(segment.slice(first + open.length, start)) === true;
    const found = start < 0 || isWithin ? undefined : read(segment.slice(start + open.length));
    if (found === undefined || !tools.isOffered(found.name)) return undefined;
    calls.push(found);
    return segment.slice(0, start);
  };
  for (let end = text.indexOf(close, from); end >= 0; end = text.indexOf(close, from)) {
    const segment = text.slice(from, end);
    rest += take(segment) ?? segment + close;
    from = end + close.length;
  }
  const last = text.slice(from);
  rest += take(last) ?? last;
  return { text: rest, calls };
}
