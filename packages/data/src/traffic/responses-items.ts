import { customCall, jsonText, recordedCall, type ToolCall } from '@rlp/core';

/** An item of the Responses API. */
export interface ResponsesItem extends Readonly<Record<string, unknown>> {
  readonly type?: string | undefined;
  readonly role?: string | undefined;
}

interface ReadCall {
  readonly call: ToolCall;
  /** What the tool gave, if the item has it. */
  readonly gave?: unknown;
}

/**
 * Items as messages. Text and calls that follow each other are one turn of the assistant. Reasoning is left out. Items that are neither text
 * nor calls become parts of that type.
 */
export function itemMessages(items: readonly ResponsesItem[]): object[] {
  const messages: { role: string; content: unknown; tool_calls?: object[] }[] = [];
  for (const item of items) {
    const { type = 'message', role = 'assistant', call_id: id = item.id, content, output } = item;
    const last = messages.at(-1);
    const open = last?.role === 'assistant' ? last : undefined;
    const read = itemCall(item);
    if (type === 'reasoning') continue;
    if (type === 'message') messages.push({ role, content: partsOrText(content) });
    else if (type.endsWith('_call_output')) messages.push(toolTurn(id, output));
    else if (read === undefined) messages.push({ role: fromUser.has(type) ? 'user' : role, content: [item] });
    else {
      if (open === undefined) messages.push({ role, content: '', tool_calls: [read.call] });
      else open.tool_calls = [...(open.tool_calls ?? []), read.call];
      if (read.gave != null) messages.push(toolTurn(read.call.id, jsonText(read.gave)));
    }
  }
  return messages;
}

/** Items that only a request has. */
const fromUser: ReadonlySet<string> = new Set(['item_reference', 'mcp_approval_response']);

/** A call of a function or of a tool that runs on the provider's servers. */
function itemCall({ type = '', id, call_id: callId, ...item }: ResponsesItem): ReadCall | undefined {
  const called = String(callId ?? id);
  const name = String(item.name);
  switch (type) {
    case 'function_call':
      return { call: recordedCall(called, name, item.arguments) };
    case 'custom_tool_call':
      return { call: customCall(called, name, item.input) };
    case 'mcp_call':
      return { call: recordedCall(called, name, item.arguments), gave: item.output ?? item.error };
    case 'code_interpreter_call':
      return { call: recordedCall(called, 'code_interpreter', { code: item.code }), gave: item.outputs };
    case 'file_search_call':
      return { call: recordedCall(called, 'file_search', { queries: item.queries }), gave: item.results };
    case 'web_search_call':
      return { call: recordedCall(called, 'web_search', item.action) };
    default:
      // Shells, patches and computers, whose outputs are items of their own.
      return type.endsWith('_call') && callId !== undefined
        ? { call: recordedCall(called, type.slice(0, -'_call'.length), item.action ?? item.operation) }
        : undefined;
  }
}

function toolTurn(id: unknown, output: unknown) {
  return { role: 'tool', content: partsOrText(output), ...{ tool_call_id: String(id) } };
}

/** Parts are left to the reader of messages, which knows those that are text. A screenshot is a part. */
function partsOrText(content: unknown): unknown {
  const { type } = (content ?? {}) as { readonly type?: unknown };
  if (type === 'computer_screenshot') return [content];
  return Array.isArray(content) ? content : jsonText(content ?? '');
}
