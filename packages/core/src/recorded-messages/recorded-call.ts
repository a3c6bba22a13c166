import type { ToolCall } from '../message.ts';

/** A value as JSON text. Text stays as it is. */
export function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** A call of a tool, as the chat API writes it. `given` is its arguments, or their JSON text. */
export function recordedCall(id: string, name: string, given: unknown): ToolCall {
  return { id, type: 'function', function: { name, arguments: jsonText(given ?? {}) } };
}

/** A call of a custom tool, whose input is text. Arguments are JSON, so the text is their `input`. */
export function customCall(id: string, name: string, input: unknown): ToolCall {
  return recordedCall(id, name, { input });
}
