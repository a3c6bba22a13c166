import { FormatError, inWords } from '@rlp/core';
import type * as z from 'zod';
import { fs } from '../node-files.ts';

/** A {@link FormatError} about one field of a configuration file. */
export function configError(
  file: string,
  field: string,
  problem: string,
  remedy = 'correct the file or download it again',
): FormatError {
  return new FormatError(`${file}: ${field}: ${problem}; ${remedy}`);
}

/**
 * Checks a file's content, or a part of it.
 *
 * @param part - Place of the part in the file. Default: the whole file.
 * @throws FormatError about the first field that does not fit.
 */
export function parseContent<Output>(
  schema: z.ZodType<Output>,
  content: unknown,
  file: string,
  part: readonly string[] = [],
  remedy?: string,
): Output {
  const parsed = schema.safeParse(content);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  const value = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown>)[key], content);
  throw configError(file, [...part, ...path].join('.') || 'file', inWords(message, value), remedy);
}

/**
 * Reads a JSON object, or returns `undefined` if the file does not exist.
 *
 * @throws FormatError if the file exists but does not hold a JSON object.
 */
export async function readJsonObject(file: string): Promise<Record<string, unknown> | undefined> {
  const text = await readText(file);
  return text === undefined ? undefined : parseJsonObject(text, file);
}

/**
 * Reads a text, or returns `undefined` if the file does not exist.
 *
 * @throws FormatError if the file exists but cannot be read.
 */
export async function readText(file: string): Promise<string | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await fs().readFile(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw configError(file, 'file', `cannot be read (${(cause as Error).message})`, 'check its permissions');
  }
  const text = utf8Of(bytes);
  if (text !== undefined) return text;
  throw configError(file, 'file', 'not UTF-8 text', 'save the file as UTF-8 or download it again');
}

/** `undefined` for other bytes, and for text in UTF-16, whose zero bytes are valid UTF-8. */
function utf8Of(bytes: Uint8Array): string | undefined {
  try {
    return bytes.includes(0) ? undefined : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Parses a JSON object.
 *
 * @throws FormatError if the text is not one.
 */
export function parseJsonObject(text: string, file: string): Record<string, unknown> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw configError(file, 'file', `not valid JSON (${(cause as Error).message})`);
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw configError(file, 'file', 'expected a JSON object');
  }
  return json as Record<string, unknown>;
}
