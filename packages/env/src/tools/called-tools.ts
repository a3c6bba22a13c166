import { parseToolCalls, type ToolSchema, toolCallFormatNames } from '@rlp/core';
import * as z from 'zod';

/** How the policy writes calls. `'any'` goes by the marks in the response. */
export const callFormatSchema = z.enum(['any', ...toolCallFormatNames]).default('any');

/** A format of calls, or `'any'`. */
export type CallFormat = z.output<typeof callFormatSchema>;

/** Calls of a response, also of tools that are not offered. A call that is drafted in a thought, before `</think>`, is text. */
export function calledTools(response: string, offered: readonly ToolSchema[], format: CallFormat) {
  const end = thoughtLength(response);
  const { text, calls } = parseToolCalls(response.slice(end), offered, { format, unknown: 'call' });
  return { text: response.slice(0, end) + text, calls };
}

/** What follows the last thought of a response. */
export function withoutThinking(response: string): string {
  return response.slice(thoughtLength(response));
}

function thoughtLength(response: string): number {
  const mark = '</think>';
  const at = response.lastIndexOf(mark);
  return at < 0 ? 0 : at + mark.length;
}
