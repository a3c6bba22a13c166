import type { Message, ToolCall } from '@rlp/core';
import { useState } from 'preact/hooks';
import type { Body, ShownStep } from '../src/payload.ts';
import { type ShadeName, shadeLimit } from '../src/shades.ts';
import { counted, short, signed } from './numbers.ts';
import { Tokens } from './tokens.tsx';

/** A message, and the step that wrote it. */
interface Said {
  readonly message: Message;
  readonly step: ShownStep | undefined;
  readonly index: number;
}

/** The messages with their steps: the last answers of the conversation, in order. */
function saidIn({ messages, steps }: Body): readonly Said[] {
  const answers = messages.filter(({ role }) => role === 'assistant').length;
  let answer = steps.length - answers - 1;
  return messages.map((message) => {
    if (message.role !== 'assistant') return { message, step: undefined, index: -1 };
    answer += 1;
    return { message, step: steps[answer], index: answer };
  });
}

/** The conversation. Answers show what is known of their steps. */
export function Conversation({ body, colour }: { readonly body: Body; readonly colour: ShadeName }) {
  const limit = shadeLimit(body.steps, colour);
  const names = new Map(
    body.messages.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => [call.id, call.function.name])),
  );
  return (
    <ol class="conversation">
      {saidIn(body).map(({ message, step, index }, place) => (
        <li key={place} class={`said said-${message.role}`} id={index >= 0 ? `step-${index + 1}` : undefined}>
          <p class="who">
            <b>{nameOf(message, names)}</b>
            {step && <StepFacts step={step} index={index} />}
          </p>
          <Words message={message} step={step} colour={colour} limit={limit} />
        </li>
      ))}
    </ol>
  );
}

function nameOf({ role, name, tool_call_id: id }: Message, names: ReadonlyMap<string, string>): string {
  if (role === 'tool') return `result of ${name ?? names.get(id ?? '') ?? 'a tool'}`;
  return name === undefined ? role : `${role} ${name}`;
}

function Words({
  message,
  step,
  colour,
  limit,
}: {
  readonly message: Message;
  readonly step: ShownStep | undefined;
  readonly colour: ShadeName;
  readonly limit: number;
}) {
  if (step?.trace?.tokenTexts && colour !== 'nothing')
    return <Tokens step={step} colour={colour} limit={limit} />;
  const { content, tool_calls: calls = [] } = message;
  return (
    <>
      {content !== '' && <Text text={content} />}
      {calls.map((call) => (
        <Call key={call.id} call={call} />
      ))}
      {content === '' && calls.length === 0 && <p class="empty">(no text)</p>}
    </>
  );
}

/** Characters of a text that are shown at first. A browser takes seconds to lay out megabytes. */
const shownCharacters = 20_000;

function Text({ text }: { readonly text: string }) {
  const [opened, open] = useState('');
  if (text.length <= shownCharacters || text === opened) return <pre>{text}</pre>;
  return (
    <>
      <pre>{text.slice(0, shownCharacters)}…</pre>
      <button type="button" onClick={() => open(text)}>
        Show all {text.length} characters
      </button>
    </>
  );
}

function Call({ call }: { readonly call: ToolCall }) {
  return (
    <div class="call">
      <p>
        calls <b>{call.function.name}</b>
      </p>
      <Text text={pretty(call.function.arguments)} />
    </div>
  );
}

/** JSON with line breaks. What is not JSON stays as it is. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

function StepFacts({ step, index }: { readonly step: ShownStep; readonly index: number }) {
  const { tokens, reward, value, stopReason, timing, trace, policyVersion } = step;
  const facts = [
    `step ${index + 1}`,
    counted(tokens.length, 'token'),
    stopReason === 'stop' ? undefined : stopReason,
    reward === undefined ? undefined : `reward ${short(reward)}`,
    value === undefined ? undefined : `value ${short(value)}`,
    trace?.episodeAdvantage === undefined ? undefined : `episode advantage ${signed(trace.episodeAdvantage)}`,
    trace?.stepAdvantage === undefined ? undefined : `step advantage ${signed(trace.stepAdvantage)}`,
    trace?.returnToGo === undefined ? undefined : `return ${short(trace.returnToGo)}`,
    timing && `${Math.round(timing.sampleMs + (timing.environmentMs ?? 0))} ms`,
    policyVersion === undefined ? undefined : `version ${policyVersion}`,
  ];
  const { anchor } = trace ?? {};
  return (
    <span class="step-facts">
      {facts.filter((fact) => fact !== undefined).join(' · ')}
      {anchor && (
        <span class="anchor" title={anchor.state}>
          state of {counted(anchor.steps, 'step')}
        </span>
      )}
    </span>
  );
}
