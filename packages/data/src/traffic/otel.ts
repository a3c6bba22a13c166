import { chatMessages, jsonText, recordedCall } from '@rlp/core';
import * as z from 'zod';
import { sdkMessages } from './ai-sdk.ts';
import { describedFailure } from './described-failure.ts';
import { fromJsonText } from './json-text.ts';
import type { RecordedExchange } from './recorded-exchange.ts';

/** An attribute of OTLP: a name and a value that says its type. */
const attribute = z.object({ key: z.string(), value: z.looseObject({}) });
const attributes = z.union([z.array(attribute), z.record(z.string(), z.unknown())]).default([]);
const span = z.looseObject({
  spanId: z.string().optional(),
  traceId: z.string().optional(),
  status: z.looseObject({}).nullish(),
  attributes,
  events: z.array(z.looseObject({ attributes })).default([]),
});
type Span = z.output<typeof span>;

/** OTLP in JSON: an export, or one span of it. */
export const otelExport = z.union([
  z.object({
    resourceSpans: z.array(
      z.looseObject({ scopeSpans: z.array(z.looseObject({ spans: z.array(span).default([]) })).default([]) }),
    ),
  }),
  span.refine(({ spanId }) => spanId !== undefined).transform((one) => [one]),
]);

/** One exchange for each span that recorded what a model was asked and said. Other spans are left out. */
export function otelExchanges(exported: z.output<typeof otelExport>): RecordedExchange[] {
  const spans = Array.isArray(exported)
    ? exported
    : exported.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  return spans.flatMap((one) => spanExchange(one) ?? []);
}

function spanExchange(one: Span): RecordedExchange | undefined {
  const own = Object.assign({}, ...[one, ...one.events].map((from) => plainAttributes(from.attributes)));
  const found = semanticMessages(own) ?? aiSdkMessages(own) ?? indexedMessages(own);
  if (found === undefined) return undefined;
  const model = own['gen_ai.response.model'] ?? own['gen_ai.request.model'];
  const conversation = own['gen_ai.conversation.id'] ?? one.traceId;
  const tools = offeredTools(own);
  return {
    format: 'opentelemetry',
    ...(one.spanId !== undefined && { id: one.spanId }),
    ...(model !== undefined && { model: String(model) }),
    ...(conversation !== undefined && { conversation: String(conversation) }),
    ...(tools !== undefined && { tools }),
    ...(found.said.length === 0 && { unanswered: silence(one) }),
    messages: [...found.asked, ...found.said],
  };
}

/** Why a span without output holds no answer. */
function silence({ status }: Span): string {
  const { code, message = '' } = status ?? {};
  if (code !== 2 && code !== 'STATUS_CODE_ERROR') return 'the span has no output of the model';
  return `the span failed${message === '' ? '' : `: ${describedFailure(message)}`}`;
}

/** Messages of the request and of its answer. */
interface SpanMessages {
  readonly asked: readonly unknown[];
  readonly said: readonly unknown[];
}

const semanticMessage = z.looseObject({ role: z.string(), content: z.unknown().optional() });

/** Messages as the semantic conventions for generative AI have them. */
function semanticMessages(own: Readonly<Record<string, unknown>>): SpanMessages | undefined {
  const all = ['gen_ai.input.messages', 'gen_ai.output.messages'].map((name) =>
    z.array(semanticMessage).safeParse(fromJsonText(own[name])),
  );
  const [asked, said] = all.map(({ data }) => data);
  if (asked === undefined && said === undefined) return undefined;
  const system = fromJsonText(own['gen_ai.system_instructions']);
  const opening =
    system === undefined
      ? []
      : [{ role: 'system', ...(Array.isArray(system) ? { parts: system } : { content: system }) }];
  return {
    asked: [...opening, ...(asked ?? [])].flatMap(partMessages),
    said: (said ?? []).flatMap(partMessages),
  };
}

/** A content of another kind than text and parts is what the program wrote, as JSON. */
function partMessages(message: z.output<typeof semanticMessage>): unknown[] {
  const { content } = message;
  const isOther = content != null && typeof content !== 'string' && !Array.isArray(content);
  return chatMessages(isOther ? { ...message, content: jsonText(content) } : message);
}

const aiSdkCalls = z.array(z.looseObject({ toolCallId: z.string(), toolName: z.string() }));

/** Messages as the telemetry of the AI SDK has them. */
function aiSdkMessages(own: Readonly<Record<string, unknown>>): SpanMessages | undefined {
  const asked = sdkMessages.safeParse(fromJsonText(own['ai.prompt.messages'])).data;
  if (asked === undefined) return undefined;
  const made = aiSdkCalls.safeParse(fromJsonText(own['ai.response.toolCalls'])).data ?? [];
  const calls = made.map(({ toolCallId, toolName, input, args }) =>
    recordedCall(toolCallId, toolName, input ?? args),
  );
  const text = own['ai.response.text'] ?? own['ai.response.object'];
  const content = jsonText(text ?? '');
  const last = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) };
  const isAnswered = text !== undefined || calls.length > 0;
  return { asked: asked.flatMap(chatMessages), said: isAnswered ? [last] : [] };
}

/** Messages as attributes with numbers, such as `gen_ai.prompt.0.content`. */
function indexedMessages(own: Readonly<Record<string, unknown>>): SpanMessages | undefined {
  const found = (name: string, role: string) => {
    const messages: object[] = [];
    for (let place = 0; `${name}.${place}.role` in own || `${name}.${place}.content` in own; place++) {
      const at = `${name}.${place}`;
      const calls: object[] = [];
      for (let call = 0; `${at}.tool_calls.${call}.name` in own; call++) {
        const from = (field: string) => own[`${at}.tool_calls.${call}.${field}`];
        calls.push(
          recordedCall(String(from('id') ?? `call_${call}`), String(from('name')), from('arguments')),
        );
      }
      const answered = own[`${at}.tool_call_id`];
      messages.push({
        ...{ role: own[`${at}.role`] ?? role, content: jsonText(own[`${at}.content`] ?? '') },
        ...(calls.length > 0 && { tool_calls: calls }),
        ...(answered !== undefined && { tool_call_id: answered }),
      });
    }
    return messages;
  };
  const [asked, said] = [found('gen_ai.prompt', 'user'), found('gen_ai.completion', 'assistant')];
  return asked.length + said.length > 0 ? { asked, said } : undefined;
}

/** Tools that the request offered: by the semantic conventions, of the AI SDK, or in attributes with numbers. */
function offeredTools(own: Readonly<Record<string, unknown>>): unknown[] | undefined {
  const listed = fromJsonText(own['gen_ai.tool.definitions'] ?? own['ai.prompt.tools']);
  if (Array.isArray(listed)) return listed.map(fromJsonText).map(readableTool);
  const at = (place: number, field: string) => own[`llm.request.functions.${place}.${field}`];
  const tools: unknown[] = [];
  for (let place = 0; at(place, 'name') !== undefined; place++) {
    const [name, description] = [at(place, 'name'), at(place, 'description')];
    const parameters = fromJsonText(at(place, 'parameters'));
    tools.push({ name, ...(description !== undefined && { description }), parameters });
  }
  return tools.length > 0 ? tools : undefined;
}

/** The AI SDK names the schema of a tool's arguments `inputSchema`. */
function readableTool(tool: unknown): unknown {
  const named = z.looseObject({ inputSchema: z.unknown() }).safeParse(tool).data;
  if (named?.inputSchema === undefined) return tool;
  const { inputSchema: parameters, name, description } = named;
  return { name, ...(description !== undefined && { description }), parameters };
}

function plainAttributes(given: z.output<typeof attributes>): Record<string, unknown> {
  if (!Array.isArray(given)) return given;
  return Object.fromEntries(given.map(({ key, value }) => [key, plainValue(value)]));
}

const list = z.looseObject({ values: z.array(z.looseObject({})).default([]) });
const entries = z.looseObject({ values: z.array(attribute).default([]) });

function plainValue(value: Readonly<Record<string, unknown>>): unknown {
  if ('arrayValue' in value) return (list.safeParse(value.arrayValue).data?.values ?? []).map(plainValue);
  if ('kvlistValue' in value) return plainAttributes(entries.safeParse(value.kvlistValue).data?.values ?? []);
  if ('intValue' in value) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}
