import { chatMessages, isRecord, jsonText, recordedCall } from '@rlp/core';
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
  events: z.array(z.looseObject({ name: z.string().optional(), attributes })).default([]),
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
  return spans.flatMap(spanExchanges);
}

/** One exchange for each choice: those of one request are answers to compare. */
function spanExchanges(one: Span): RecordedExchange[] {
  const own = Object.assign({}, ...[one, ...one.events].map((from) => plainAttributes(from.attributes)));
  const found = semanticMessages(own) ?? aiSdkMessages(own) ?? indexedMessages(own) ?? eventMessages(one);
  if (found === undefined) return [];
  const model = own['gen_ai.response.model'] ?? own['gen_ai.request.model'];
  const conversation = own['gen_ai.conversation.id'] ?? one.traceId;
  const tools = offeredTools(own);
  const facts = {
    format: 'opentelemetry' as const,
    ...(model !== undefined && { model: String(model) }),
    ...(conversation !== undefined && { conversation: String(conversation) }),
    ...(tools !== undefined && { tools }),
  };
  const { spanId: id } = one;
  const { asked, said } = found;
  if (said.length === 0)
    return [{ ...facts, ...(id !== undefined && { id }), unanswered: silence(one), messages: asked }];
  return said.map((choice, place) => ({
    ...facts,
    ...(id !== undefined && { id: said.length > 1 ? `${id}/${place}` : id }),
    messages: [...asked, ...choice],
  }));
}

/** Why a span without output holds no answer. */
function silence({ status }: Span): string {
  const { code, message = '' } = status ?? {};
  if (code !== 2 && code !== 'STATUS_CODE_ERROR') return 'the span has no output of the model';
  return `the span failed${message === '' ? '' : `: ${describedFailure(message)}`}`;
}

/** Messages of the request, and of each choice of its answer. */
interface SpanMessages {
  readonly asked: readonly unknown[];
  readonly said: readonly (readonly unknown[])[];
}

/** Attributes of the semantic conventions, and their names in earlier ones. */
const messageNames = [
  ['gen_ai.input.messages', 'gen_ai.prompt'],
  ['gen_ai.output.messages', 'gen_ai.completion'],
] as const;
const semanticMessage = z.looseObject({ role: z.string(), content: z.unknown().optional() });

/** Messages as the semantic conventions for generative AI have them. */
function semanticMessages(own: Readonly<Record<string, unknown>>): SpanMessages | undefined {
  const all = messageNames.map(([name, earlier]) =>
    z.array(semanticMessage).safeParse(fromJsonText(own[name] ?? own[earlier])),
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
    said: choicesOf((said ?? []).map(partMessages)),
  };
}

/** Each message of an answer is a choice, unless tools answered in between: then all are one run. */
function choicesOf(said: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] {
  const areChoices = said.every((messages) =>
    messages.every((one) => isRecord(one) && one.role === 'assistant'),
  );
  return areChoices ? said : [said.flat()];
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
  return { asked: asked.flatMap(chatMessages), said: isAnswered ? [[last]] : [] };
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
  return asked.length + said.length > 0 ? { asked, said: said.map((one) => [one]) } : undefined;
}

const messageEvent = /^gen_ai\.(system|user|assistant|tool)\.message$/;

/** Messages as events of their own, as earlier conventions had them: `gen_ai.user.message` and `gen_ai.choice`. */
function eventMessages({ events }: Span): SpanMessages | undefined {
  const asked: unknown[] = [];
  const said: unknown[][] = [];
  for (const { name, attributes } of events) {
    const own = plainAttributes(attributes);
    const role = messageEvent.exec(String(name))?.[1];
    if (role !== undefined) asked.push(eventMessage(role, own));
    else if (name === 'gen_ai.choice') {
      const message = fromJsonText(own.message);
      said.push([
        eventMessage('assistant', isRecord(message) ? message : { ...own, content: own.content ?? message }),
      ]);
    }
  }
  return asked.length + said.length > 0 ? { asked, said } : undefined;
}

function eventMessage(
  role: string,
  { content, tool_calls: made, id, ...own }: Readonly<Record<string, unknown>>,
) {
  const calls = fromJsonText(made);
  return {
    ...{ role: own.role ?? role, content: jsonText(content ?? '') },
    ...(Array.isArray(calls) && calls.length > 0 && { tool_calls: calls }),
    ...(role === 'tool' && id !== undefined && { tool_call_id: String(id) }),
  };
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
