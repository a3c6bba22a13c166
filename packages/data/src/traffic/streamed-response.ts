import { isRecord } from '@rlp/core';
import * as z from 'zod';
import { fromJsonText } from './json-text.ts';

const callDelta = z.looseObject({
  index: z.int().optional(),
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});
const delta = z.looseObject({
  role: z.string().nullish(),
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(callDelta).nullish(),
  function_call: callDelta.shape.function,
});
const chunk = z.looseObject({
  id: z.string().nullish(),
  model: z.string().nullish(),
  choices: z.array(z.looseObject({ index: z.int().default(0), delta: delta.nullish() })).min(1),
});
type Chunk = z.output<typeof chunk>;

const done = z.looseObject({
  type: z.enum(['response.completed', 'response.incomplete', 'response.failed']),
  response: z.looseObject({}),
});

interface Said {
  role: string;
  content: string;
  refusal: string;
  readonly calls: { id: string; name: string; arguments: string }[];
  /** The call of a function before there were tools. */
  readonly earlier: Said['calls'];
}

/**
 * A response that was streamed, as the whole response: chunks in a list, or the text of server-sent events. That of a
 * stream that failed is its error. Others stay as they are.
 */
export function wholeResponse(response: unknown): unknown {
  const events = eventsOf(response);
  const last = events.map((event) => done.safeParse(event).data).find((event) => event !== undefined);
  if (last !== undefined) return last.response;
  const failed = events.find((event) => isRecord(event) && event.error != null);
  if (failed !== undefined) return failed;
  // The last chunk may count tokens and say nothing.
  const saying = events.filter(
    (event) => isRecord(event) && Array.isArray(event.choices) && event.choices.length > 0,
  );
  const chunks = z.array(chunk).safeParse(saying).data ?? [];
  const isStream = chunks.some(({ choices }) => choices.some(({ delta: more }) => more != null));
  return isStream ? joinedChunks(chunks) : response;
}

function eventsOf(response: unknown): readonly unknown[] {
  if (isRecord(response)) return [response];
  if (Array.isArray(response)) return response;
  if (typeof response !== 'string') return [];
  return response
    .split(/\r\n?|\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => fromJsonText(line.slice('data:'.length).trim()));
}

function joinedChunks(chunks: readonly Chunk[]): object {
  const all = new Map<number, Said>();
  for (const { choices } of chunks) {
    for (const { index, delta: more } of choices) {
      const said = all.get(index) ?? { role: 'assistant', content: '', refusal: '', calls: [], earlier: [] };
      all.set(index, said);
      said.role = more?.role ?? said.role;
      said.content += more?.content ?? '';
      said.refusal += more?.refusal ?? '';
      if (more?.function_call != null) addCall({ calls: said.earlier }, { function: more.function_call }, 0);
      for (const [place, call] of (more?.tool_calls ?? []).entries())
        addCall(said, call, call.index ?? place);
    }
  }
  const id = chunks.find((one) => one.id != null)?.id;
  const model = chunks.find((one) => one.model != null)?.model;
  const inOrder = [...all].sort(([a], [b]) => a - b);
  return {
    ...(id != null && { id }),
    ...(model != null && { model }),
    choices: inOrder.map(([index, said]) => ({ index, message: messageOf(said) })),
  };
}

function addCall(
  { calls }: Pick<Said, 'calls'>,
  { id, function: more }: z.output<typeof callDelta>,
  place: number,
): void {
  calls[place] ??= { id: '', name: '', arguments: '' };
  const call = calls[place];
  call.id ||= id ?? '';
  call.name += more?.name ?? '';
  call.arguments += more?.arguments ?? '';
}

function messageOf({ role, content, refusal, calls, earlier }: Said): object {
  const [called] = earlier;
  const made = calls.filter((call) => call !== undefined);
  return {
    role,
    content: content === '' && refusal !== '' ? null : content,
    ...(refusal !== '' && { refusal }),
    ...(called !== undefined && { function_call: { name: called.name, arguments: called.arguments } }),
    ...(made.length > 0 && {
      tool_calls: made.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
    }),
  };
}
