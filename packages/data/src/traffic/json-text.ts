/** A value as JSON text. Text stays as it is. */
export function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** A value that may have been written as JSON text. */
export function fromJsonText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** A call of a tool, as the chat API writes it. */
export function chatCall(id: string, name: string, given: unknown): object {
  return { id, type: 'function', function: { name, arguments: jsonText(given ?? {}) } };
}
