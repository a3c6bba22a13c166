import { isRecord } from '@rlp/core';

/**
 * What a model reads of an output of `toModelOutput` of the AI SDK: text as it is, JSON as a value, text of parts line by line. Parts that
 * are not text are named in brackets. Throws for an output that is an error.
 */
export function readModelOutput(output: unknown): unknown {
  if (!isRecord(output)) return output;
  const { type, value } = output;
  if (type === 'error-text' || type === 'error-json') {
    throw new Error(typeof value === 'string' ? value : JSON.stringify(value));
  }
  if (type === 'execution-denied') throw new Error(`denied: ${String(output.reason ?? 'no reason given')}`);
  if (type === 'content' && Array.isArray(value)) return value.map(textOfPart).join('\n');
  return type === 'text' || type === 'json' ? value : output;
}

/** The text of a part of a message or of the resource in it, or its kind in brackets, with the address of a link. */
export function textOfPart(part: unknown): string {
  if (!isRecord(part)) return '';
  const { text } = isRecord(part.resource) ? part.resource : part;
  if (typeof text === 'string') return text;
  return `[${String(part.type)}${typeof part.uri === 'string' ? ` ${part.uri}` : ''}]`;
}
