import { isRecord } from '../is-record.ts';
import type { ToolCall } from '../message.ts';
import { customCall, recordedCall } from './recorded-call.ts';
import { type RecordedPart, recordedPart } from './recorded-part.ts';

interface Turn extends Record<string, unknown> {
  content: unknown;
  tool_calls?: unknown[];
}

/**
 * A recorded message as messages of the chat API, which are several if its parts hold what tools gave. Understands the parts of OpenAI's and
 * Anthropic's APIs, of the AI SDK, of its user interface and of OpenTelemetry. Other parts, such as images, stay in the content.
 * Reasoning, sources and approvals are left out. Nothing is checked.
 */
export function chatMessages(message: unknown): unknown[] {
  if (!isRecord(message)) return [message];
  const { parts, ...rest } = message;
  const own = withCustomCalls(rest);
  const listed = Array.isArray(parts) && (parts.length > 0 || own.content == null) ? parts : own.content;
  if (!Array.isArray(listed)) return [own];
  return new Turns(own, listed).all();
}

/** Builds the turns of one message. */
class Turns {
  readonly #message: Readonly<Record<string, unknown>>;
  readonly #all: unknown[] = [];
  readonly #known: Set<unknown>;
  /** Results of calls that were made at once come behind the turn that made them. */
  #awaited: unknown[] = [];
  #parts: unknown[] = [];
  #calls: ToolCall[] = [];
  #isOpen = false;
  #count = 0;

  constructor(message: Readonly<Record<string, unknown>>, parts: readonly unknown[]) {
    this.#message = message;
    const { tool_calls: calls } = message;
    this.#known = new Set(Array.isArray(calls) ? calls.filter(isRecord).map(({ id }) => id) : []);
    for (const part of parts) this.#add(recordedPart(part), part);
    this.#close();
  }

  /** A message without a part that counts said nothing. A tool's says nothing then. */
  all(): unknown[] {
    const { role } = this.#message;
    return this.#all.length === 0 && role !== 'tool' ? [{ ...this.#message, content: '' }] : this.#all;
  }

  #add(read: RecordedPart, part: unknown): void {
    if (read.kind === 'aside') return;
    if (read.kind === 'step') this.#close();
    else if (read.kind === 'result') {
      this.#close();
      this.#all.push(toolTurn(read.id, read.gave));
    } else {
      if (read.kind !== 'call' && this.#awaited.length > 0) this.#close();
      this.#isOpen = true;
      if (read.kind === 'call') this.#call(read);
      else this.#parts.push(read.kind === 'text' ? { type: 'text', text: read.text } : part);
    }
  }

  #call({ name, id, given, gave }: Extract<RecordedPart, { kind: 'call' }>): void {
    const named = String(id ?? `call_${this.#count}`);
    this.#count += 1;
    // Some programs write a call both as a part and beside the parts.
    if (!this.#known.has(named)) this.#calls.push(recordedCall(named, name, given));
    if (gave !== undefined) this.#awaited.push(toolTurn(named, gave));
  }

  #close(): void {
    if (this.#isOpen) this.#all.push(this.#turn());
    this.#all.push(...this.#awaited);
    this.#awaited = [];
    this.#parts = [];
    this.#calls = [];
    this.#isOpen = false;
  }

  /** The first turn has what the message says beside its parts. */
  #turn(): Turn {
    const { tool_calls: beside, ...rest } = this.#message;
    const isFirst = this.#all.length === 0;
    const calls = [...(isFirst && Array.isArray(beside) ? beside : []), ...this.#calls];
    return {
      ...(isFirst ? rest : { role: rest.role }),
      content: joined(this.#parts),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
  }
}

function toolTurn(id: unknown, content: unknown): object {
  return { role: 'tool', tool_call_id: String(id), content };
}

/** Text, unless a part is none. */
function joined(parts: readonly unknown[]): unknown {
  const texts = parts.map(recordedPart).map((part) => (part.kind === 'text' ? part.text : undefined));
  return texts.includes(undefined) ? parts : texts.join('');
}

/** Calls of custom tools of the chat API as calls of functions. */
function withCustomCalls(message: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return message;
  const read = calls.map((call: unknown) => {
    const { id, type, custom } = isRecord(call) ? call : {};
    return type === 'custom' && isRecord(custom)
      ? customCall(String(id), String(custom.name), custom.input)
      : call;
  });
  return { ...message, tool_calls: read };
}
