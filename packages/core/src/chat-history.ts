import type { Message } from './message.ts';
import { requireArguments } from './options/require-arguments.ts';

/** What a chat template writes after an assistant's turn. */
export type TurnContinuation =
  | {
      /** Ends the assistant's turn, such as `<|im_end|>\n`. `text` begins with it. */
      readonly turnEnd: string;
      /** The end of the turn, all later messages, and the header of the next assistant turn. */
      readonly text: string;
      readonly refusal?: undefined;
    }
  /** Why the template cannot be cut after this turn. */
  | { readonly refusal: string };

/** Renders a conversation to text. Throws if the template refuses the messages. */
export type RenderText = (messages: readonly Message[], generationPrompt: 'add' | 'none') => string;

/**
 * Text that follows the assistant's turn `messages[turn]` in a rendered conversation.
 *
 * The conversation is rendered with a marker in place of what the assistant said. What follows the marker follows the
 * turn, whatever the template does with the turn itself: trim it, drop its reasoning, or write an empty think block
 * before it. So the turn can stay as the tokens that were sampled.
 *
 * An assistant that called tools keeps its calls, because templates look up names and ids there. The marker then
 * stands in the arguments of the last call.
 *
 * @param turn - Index of an assistant message.
 */
export function turnContinuation(
  render: RenderText,
  messages: readonly Message[],
  turn: number,
): TurnContinuation {
  requireArguments(
    'turnContinuation',
    { render: 'function', messages: 'objects', turn: 'number' },
    render,
    messages,
    turn,
  );
  const before = messages.slice(0, turn);
  const after = messages.slice(turn + 1);
  const marker = unusedWord(messages);
  const tails = (marked: Message): Tails => {
    const closed = tailOf(render([...before, marked], 'none'), marker);
    return { closed, whole: tailOf(render([...before, marked, ...after], 'add'), marker) };
  };
  try {
    const { tool_calls: calls, function_call: _, ...message } = messages[turn]!;
    const plain = { ...message, content: marker };
    if (calls === undefined || calls.length === 0) return spoken(tails(plain));
    const closed = tailOf(render([...before, plain], 'none'), marker);
    const called = attempt(() => tails({ ...message, tool_calls: markedCalls(calls, marker) }));
    return (called && afterCalls(called, closed)) ?? spoken(tails(plain));
  } catch (error) {
    return { refusal: error instanceof Error ? error.message : String(error) };
  }
}

/** What follows the marker: without and with the later messages. */
interface Tails {
  readonly closed: string;
  readonly whole: string;
}

function spoken({ closed, whole }: Tails): TurnContinuation {
  return { turnEnd: commonPrefix(closed, whole), text: whole };
}

/** The end of a turn with calls also closes the markup that the policy wrote itself. Only the end of the turn stays. */
function afterCalls({ closed, whole }: Tails, turnEnd: string): TurnContinuation | undefined {
  if (!closed.endsWith(turnEnd) || !whole.startsWith(closed)) return undefined;
  return { turnEnd, text: turnEnd + whole.slice(closed.length) };
}

function markedCalls(
  calls: NonNullable<Message['tool_calls']>,
  marker: string,
): NonNullable<Message['tool_calls']> {
  const last = calls.at(-1)!;
  const marked = { ...last.function, arguments: JSON.stringify({ [marker]: marker }) };
  return [...calls.slice(0, -1), { ...last, function: marked }];
}

function tailOf(text: string, marker: string): string {
  const at = text.lastIndexOf(marker);
  if (at < 0) throw new Error('the chat template does not print what the assistant said');
  return text.slice(at + marker.length);
}

function attempt<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** A word that no message contains. */
function unusedWord(messages: readonly Message[]): string {
  const all = JSON.stringify(messages);
  let word = 'sampledturn';
  while (all.includes(word)) word += 'x';
  return word;
}

function commonPrefix(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
}
