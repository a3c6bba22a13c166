import { parseToolCalls, passagesOf, type ToolSchema, toolCallFormatNames } from '@rlp/core';
import * as z from 'zod';

/** How the policy writes calls. `'any'` goes by the marks in the response. */
export const callFormatSchema = z.enum(['any', ...toolCallFormatNames]).default('any');

/** A format of calls, or `'any'`. */
export type CallFormat = z.output<typeof callFormatSchema>;

/**
 * Calls of a response, also of tools that are not offered. A call that is drafted in a closed thought is text. One in an open thought is
 * made, because a policy may wait for the result while it thinks.
 */
export function calledTools(response: string, offered: readonly ToolSchema[], format: CallFormat) {
  const parts = passagesOf(response).map(({ kind, text }) =>
    kind === 'thought' ? { text, calls: [] } : parseToolCalls(text, offered, { format, unknown: 'call' }),
  );
  return { text: parts.map(({ text }) => text).join(''), calls: parts.flatMap(({ calls }) => calls) };
}

/** What a response says besides its closed thoughts. */
export function withoutThinking(response: string): string {
  const said = passagesOf(response).filter(({ kind }) => kind !== 'thought');
  return said.map(({ text }) => text).join('');
}
