import type { Message, TrajectoryStatus } from '@rlp/core';

/** A whole episode, as text: what rewards are computed from. */
export interface RewardEpisode {
  /** What the policy was asked; messages count as their contents. Missing: `''`. */
  readonly prompt?: string | readonly Message[] | undefined;
  /** What it answered. Missing: `''`. Anything but text makes the episode unscorable. */
  readonly response?: string | undefined;
  /** The example: what is known about the task, such as its reference answer. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** How it ended, where that is known: only `completed` and `truncated` ones are judged. */
  readonly status?: TrajectoryStatus | undefined;
}

/** An episode whose fields are there and have the right types. */
export interface ReadEpisode {
  readonly prompt: string;
  readonly response: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const noMetadata: Readonly<Record<string, unknown>> = Object.freeze({});

/** An episode, `null` for one that is not to be judged, or the sentence that says why it cannot be read. */
export function readEpisode(episode: unknown): ReadEpisode | null | string {
  if (typeof episode !== 'object' || episode === null) {
    return `expected an object with prompt and response, got ${episode === null ? 'null' : typeof episode}`;
  }
  try {
    const { prompt = '', response = '', metadata = noMetadata, status } = episode as Record<string, unknown>;
    if (status !== undefined && status !== 'completed' && status !== 'truncated') return null;
    if (typeof response !== 'string') return `expected the response to be text, got ${kindOf(response)}`;
    const text = typeof prompt === 'string' ? prompt : textOfMessages(prompt);
    if (text === undefined)
      return `expected the prompt to be text or a list of messages, got ${kindOf(prompt)}${strangeMessage(prompt)}`;
    if (typeof metadata !== 'object' || metadata === null) {
      return `expected the metadata to be an object, got ${kindOf(metadata)}`;
    }
    return { prompt: text, response, metadata: metadata as ReadEpisode['metadata'] };
  } catch (error) {
    return `reading it threw ${error instanceof Error ? error.message : typeof error}`;
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}

type Given = { readonly content?: unknown } | null;

/** An assistant's turn that only calls tools has no content: the API says `null`. */
const hasContent = (message: Given) => typeof message?.content === 'string' || message?.content === null;

/** The messages' contents, one after the other; `undefined` where it is no list of messages. */
function textOfMessages(prompt: unknown): string | undefined {
  if (!Array.isArray(prompt) || !prompt.every(hasContent)) return undefined;
  return prompt.map((message: Given) => message?.content ?? '').join('\n');
}

/** What keeps a list from being one of messages. */
function strangeMessage(prompt: unknown): string {
  const place = Array.isArray(prompt) ? prompt.findIndex((message: Given) => !hasContent(message)) : -1;
  if (place < 0) return '';
  const content = (prompt as readonly Given[])[place]?.content;
  return ` whose message ${place} has ${content === undefined ? 'no content' : `${kindOf(content)} for its content`}`;
}

const referenceKeys = ['groundTruth', 'ground_truth', 'reference', 'answer', 'label'] as const;

/**
 * The reference answer of an example: the first of `groundTruth`, `ground_truth`, `reference`, `answer` and `label` that
 * is text with anything but white space in it, or a number.
 */
export function referenceOf(metadata: Readonly<Record<string, unknown>>): string | undefined {
  for (const key of referenceKeys) {
    const value = metadata[key];
    if (typeof value === 'string' && value.trim() !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return undefined;
}
