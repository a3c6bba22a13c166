/**
 * Text of a value as a production log has it. A message or a part of one is its content, and a list of them their contents, one per
 * line. Other values become JSON, and missing ones are empty.
 */
export function loggedText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value) && value.length > 0 && value.every(hasContent))
    return value.map(loggedText).join('\n');
  if (hasContent(value)) return loggedText('content' in value ? value.content : value.text);
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    // A cycle, or a number that JSON does not have.
    return String(value);
  }
}

/** Text of a response as a production log has it. Of messages only those of the assistant count, if there are any. */
export function loggedResponse(value: unknown): string {
  const own = Array.isArray(value) ? value.filter((one) => hasContent(one) && isAssistant(one)) : [];
  return loggedText(own.length > 0 ? own : value);
}

function isAssistant(message: object): boolean {
  return 'role' in message && message.role === 'assistant';
}

function hasContent(value: unknown): value is { readonly content: unknown } | { readonly text: unknown } {
  return typeof value === 'object' && value !== null && ('content' in value || 'text' in value);
}
