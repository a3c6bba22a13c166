import { unpacked } from '../src/blocks.ts';
import type { Body, Details, Payload } from '../src/payload.ts';

type Messages = Body['messages'];

const blocks = new Map<number, Promise<readonly Body[]>>();
/** Blocks that stay unpacked. */
const kept = 8;

function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? '';
}

/** What the list shows. */
export async function loadPayload(): Promise<Payload> {
  return JSON.parse(await unpacked(textOf('index'))) as Payload;
}

function blockOf(index: number): Promise<readonly Body[]> {
  const known = blocks.get(index);
  if (known !== undefined) return known;
  const block = wholeBlock(index);
  blocks.set(index, block);
  for (const oldest of [...blocks.keys()].slice(0, Math.max(0, blocks.size - kept))) blocks.delete(oldest);
  return block;
}

async function wholeBlock(index: number): Promise<readonly Body[]> {
  const [messages, details] = await Promise.all([
    unpacked(textOf(`messages-${index}`)).then((text) => JSON.parse(text) as readonly Messages[]),
    unpacked(textOf(`details-${index}`)).then((text) => JSON.parse(text) as readonly Details[]),
  ]);
  return details.map((each, at) => ({ ...each, messages: messages[at]! }));
}

/** The trajectory at a place. */
export async function loadBody({ blockSize }: Payload, place: number): Promise<Body> {
  const block = await blockOf(Math.floor(place / blockSize));
  return block[place % blockSize]!;
}

/** Milliseconds between two reports of a search. */
const reportEveryMs = 200;

/** Looks for a text in all messages, block by block. Calls `found` now and then with the places, and how much was searched. */
export async function searchBodies(
  { rows, blockSize }: Payload,
  text: string,
  { found, signal }: { found: (places: ReadonlySet<number>, share: number) => void; signal: AbortSignal },
): Promise<void> {
  const wanted = text.toLowerCase();
  const written = JSON.stringify(wanted).slice(1, -1);
  const count = Math.ceil(rows.length / blockSize);
  const places = new Set<number>();
  let reported = performance.now();
  for (let index = 0; index < count && !signal.aborted; index++) {
    const block = await unpacked(textOf(`messages-${index}`));
    // Most blocks are told apart without reading them.
    const said = block.toLowerCase().includes(written) ? (JSON.parse(block) as readonly Messages[]) : [];
    for (const [at, messages] of said.entries())
      if (mention(messages, wanted)) places.add(index * blockSize + at);
    const now = performance.now();
    if (signal.aborted || (now - reported < reportEveryMs && index + 1 < count)) continue;
    reported = now;
    found(new Set(places), (index + 1) / count);
  }
}

function mention(messages: Messages, wanted: string): boolean {
  return messages.some(({ content, tool_calls: calls = [] }) =>
    [content, ...calls.map((call) => `${call.function.name} ${call.function.arguments}`)].some((part) =>
      part.toLowerCase().includes(wanted),
    ),
  );
}
