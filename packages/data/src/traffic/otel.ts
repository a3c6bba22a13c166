import * as z from 'zod';
import { chatMessages, modelMessage } from './ai-sdk.ts';
import { chatCall, fromJsonText, jsonText } from './json-text.ts';
import type { RecordedExchange } from './recorded-exchange.ts';

/** An attribute of OTLP: a name and a value that says its type. */
const attribute = z.object({ key: z.string(), value: z.looseObject({}) });
const attributes = z.union([z.array(attribute), z.record(z.string(), z.unknown())]).default([]);
const span = z.looseObject({
  spanId: z.string().optional(),
  traceId: z.string().optional(),
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
  const messages = semanticMessages(own) ?? aiSdkMessages(own) ?? indexedMessages(own);
  if (messages === undefined) return undefined;
  const model = own['gen_ai.response.model'] ?? own['gen_ai.request.model'];
  const conversation = own['gen_ai.conversation.id'] ?? one.traceId;
  const tools = offeredTools(own);
  return {
    format: 'opentelemetry',
    ...(one.spanId !== undefined && { id: one.spanId }),
    ...(model !== undefined && { model: String(model) }),
    ...(conversation !== undefined && { conversation: String(conversation) }),
    ...(tools !== undefined && { tools }),
    messages,
  };
}

const parts = z.array(z.looseObject({ type: z.string() }));
const semanticMessage = z.looseObject({
  role: z.string(),
  parts: parts.optional(),
  content: z.unknown().optional(),
});

/** Messages as the semantic conventions for generative AI have them. */
function semanticMessages(own: Readonly<Record<string, unknown>>): object[] | undefined {
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
  return [...opening, ...(asked ?? []), ...(said ?? [])].flatMap(partMessages);
}

function partMessages({ role, parts: given, content }: z.output<typeof semanticMessage>): object[] {
  const known = parts.safeParse(given ?? content).data;
  if (known === undefined) return [{ role, content: jsonText(content ?? '') }];
  const results = known.filter(({ type }) => type === 'tool_call_response');
  if (results.length > 0) {
    return results.map(({ id, response, result }) => ({
      ...{ role: 'tool', tool_call_id: String(id), content: jsonText(response ?? result ?? '') },
    }));
  }
  const texts = known
    .filter(({ type }) => type === 'text')
    .map((part) => String(part.content ?? part.text ?? ''));
  const calls = known
    .filter(({ type }) => type === 'tool_call')
    .map(({ id, name, arguments: args }, place) =>
      chatCall(String(id ?? `call_${place}`), String(name), args),
    );
  return [{ role, content: texts.join(''), ...(calls.length > 0 && { tool_calls: calls }) }];
}

const aiSdkCalls = z.array(z.looseObject({ toolCallId: z.string(), toolName: z.string() }));

/** Messages as the telemetry of the AI SDK has them. */
function aiSdkMessages(own: Readonly<Record<string, unknown>>): object[] | undefined {
  const asked = z.array(modelMessage).safeParse(fromJsonText(own['ai.prompt.messages'])).data;
  if (asked === undefined) return undefined;
  const said = aiSdkCalls.safeParse(fromJsonText(own['ai.response.toolCalls'])).data ?? [];
  const calls = said.map(({ toolCallId, toolName, input, args }) =>
    chatCall(toolCallId, toolName, input ?? args),
  );
  const content = String(own['ai.response.text'] ?? '');
  const last = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) };
  return [...asked.flatMap(chatMessages), last];
}

/** Messages as attributes with numbers, such as `gen_ai.prompt.0.content`. */
function indexedMessages(own: Readonly<Record<string, unknown>>): object[] | undefined {
  const found = (name: string, role: string) => {
    const messages: object[] = [];
    for (let place = 0; `${name}.${place}.role` in own || `${name}.${place}.content` in own; place++) {
      const at = `${name}.${place}`;
      const calls: object[] = [];
      for (let call = 0; `${at}.tool_calls.${call}.name` in own; call++) {
        const from = (field: string) => own[`${at}.tool_calls.${call}.${field}`];
        calls.push(chatCall(String(from('id') ?? `call_${call}`), String(from('name')), from('arguments')));
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
  const all = [...found('gen_ai.prompt', 'user'), ...found('gen_ai.completion', 'assistant')];
  return all.length > 0 ? all : undefined;
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
