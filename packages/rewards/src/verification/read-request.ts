import { isRecord } from '@rlp/core';

/** A prompt and a response as verifiers read them: well-formed text. */
export interface ReadRequest {
  readonly prompt: string;
  readonly response: string;
  /** Empty where there is none. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** What was repaired, for the report's details; absent if nothing was. */
  readonly notes?: Readonly<Record<string, unknown>> | undefined;
}

/** Reads what should be a `VerificationRequest`; a response that is not text is a problem, never an exception. */
export function readRequest(request: unknown): ReadRequest | { readonly problem: string } {
  const given = fieldsOf(request);
  if (given === undefined) return { problem: `expected { prompt, response }, got ${kindOf(request)}` };
  if (typeof given.response !== 'string') {
    return { problem: `expected the response to be text, got ${kindOf(given.response)}` };
  }
  const response = wellFormed(given.response);
  const metadata = isRecord(given.metadata) ? given.metadata : {};
  if (typeof given.prompt !== 'string') {
    const promptProblem = `expected the prompt to be text, got ${kindOf(given.prompt)}; read as empty`;
    return {
      prompt: '',
      response: response.text,
      metadata,
      notes: { promptProblem, ...surrogateNote(response) },
    };
  }
  const prompt = wellFormed(given.prompt);
  return {
    prompt: prompt.text,
    response: response.text,
    metadata,
    ...(response.replaced > 0 && { notes: surrogateNote(response) }),
  };
}

/** The fields; `undefined` if there are none to read, getters that throw included. */
function fieldsOf(request: unknown): { prompt: unknown; response: unknown; metadata: unknown } | undefined {
  if (typeof request !== 'object' || request === null) return undefined;
  try {
    const { prompt, response, metadata } = request as Partial<Record<string, unknown>>;
    return { prompt, response, metadata };
  } catch {
    return undefined;
  }
}

interface WellFormed {
  readonly text: string;
  readonly replaced: number;
}

function wellFormed(text: string): WellFormed {
  let replaced = 0;
  const repaired = text.replace(/\p{Surrogate}/gu, () => {
    replaced += 1;
    return '\uFFFD';
  });
  return replaced === 0 ? { text, replaced } : { text: repaired, replaced };
}

function surrogateNote({ replaced }: WellFormed): Record<string, unknown> {
  return replaced === 0 ? {} : { loneSurrogates: replaced };
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}
