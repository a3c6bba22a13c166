import { described, isRecord } from '@rlp/core';
import { disguisedDetail, isAscii, plainText } from '../shared/plain-text.ts';
import { countMatches } from '../shared/text.ts';

/** A prompt and a response as verifiers read them, as well-formed text. */
export interface ReadRequest {
  readonly prompt: string;
  /** The response without disguises. See `plainText`. */
  readonly response: string;
  /** The response as it came. */
  readonly original: string;
  /** Empty where there is none. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Details of the report about what was repaired. */
  readonly notes: Readonly<Record<string, unknown>>;
}

const known = new WeakMap<object, { readonly response: string; readonly read: ReturnType<typeof asRead> }>();

/** Reads what should be a `VerificationRequest`. A response that is not text is a problem, never an exception. */
export function readRequest(request: unknown): ReadRequest | { readonly problem: string } {
  const given = fieldsOf(request);
  if (given === undefined)
    return { problem: `expected { prompt, response }, got ${request === null ? 'null' : typeof request}` };
  const { prompt, response } = given;
  if (typeof response !== 'string') {
    return { problem: `expected the response to be text, got ${described(response)}` };
  }
  // The verifiers of a pipeline read the same requests.
  const before = known.get(request as object);
  const read = before?.response === response ? before.read : asRead(response);
  known.set(request as object, { response, read });
  const metadata = isRecord(given.metadata) ? given.metadata : {};
  if (typeof prompt === 'string') return { ...read, prompt: wellFormed(prompt), metadata };
  const promptProblem = `expected the prompt to be text, got ${described(prompt)}; read as empty`;
  return { ...read, prompt: '', metadata, notes: { promptProblem, ...read.notes } };
}

/** What a response says, with and without disguises. */
function asRead(given: string): Pick<ReadRequest, 'response' | 'original' | 'notes'> {
  if (isAscii(given)) return { response: given, original: given, notes: {} };
  const original = wellFormed(given);
  const loneSurrogates = countMatches(given, /\p{Surrogate}/gu);
  const { text: response, disguises } = plainText(original);
  const notes = { ...(loneSurrogates > 0 && { loneSurrogates }), ...disguisedDetail(disguises) };
  return { response, original, notes };
}

/** The fields. `undefined` if there are none to read, getters that throw included. */
function fieldsOf(request: unknown): { prompt: unknown; response: unknown; metadata: unknown } | undefined {
  if (typeof request !== 'object' || request === null) return undefined;
  try {
    const { prompt, response, metadata } = request as Partial<Record<string, unknown>>;
    return { prompt, response, metadata };
  } catch {
    return undefined;
  }
}

function wellFormed(text: string): string {
  return isAscii(text) ? text : text.replace(/\p{Surrogate}/gu, '\uFFFD');
}
