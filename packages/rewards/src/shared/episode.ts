import {
  ArgumentError,
  described,
  isRecord,
  type Message,
  requireArguments,
  type Sample,
  type Trajectory,
  type TrajectoryStatus,
} from '@rlp/core';

/** A whole episode as text. */
export interface RewardEpisode {
  /** The policy's input. Messages count as their contents. Default `''`. */
  readonly prompt?: string | readonly Message[] | undefined;
  /** The policy's answer. Default `''`. Anything but text makes the episode unscorable. */
  readonly response?: string | undefined;
  /** What is known about the task, such as its reference answer. Default `{}`. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Only `completed` and `truncated` episodes are judged. Default `'completed'`. */
  readonly status?: TrajectoryStatus | undefined;
}

/** An episode whose fields are there and have the right types. */
export interface ReadEpisode {
  readonly prompt: string;
  readonly response: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const noMetadata: Readonly<Record<string, unknown>> = Object.freeze({});

/** Fields in which logs and other libraries keep the policy's answer. Without a word such an episode would count as an empty one. */
const answerFields = ['completion', 'messages', 'output'];

/** An episode, `null` if it is not to be judged, or a sentence that says why it cannot be read. */
export function readEpisode(episode: unknown): ReadEpisode | null | string {
  if (!isRecord(episode)) return `expected an object with prompt and response, got ${described(episode)}`;
  try {
    const { prompt = '', response = '', metadata = noMetadata, status } = episode;
    if (status !== undefined && status !== 'completed' && status !== 'truncated') return null;
    const elsewhere = 'response' in episode ? undefined : answerFields.find((field) => field in episode);
    if (elsewhere || typeof response !== 'string')
      return `expected the response to be text, got ${elsewhere ? `only ${elsewhere}` : described(response)}`;
    const text = typeof prompt === 'string' ? prompt : textOfMessages(prompt);
    if (text === undefined)
      return `expected the prompt to be text or a list of messages, got ${described(prompt)}${strangeMessage(prompt)}`;
    if (!isRecord(metadata)) return `expected the metadata to be an object, got ${described(metadata)}`;
    return { prompt: text, response, metadata };
  } catch (error) {
    return `reading it threw ${error instanceof Error ? error.message : typeof error}`;
  }
}

type Given = { readonly content?: unknown } | null;

/** An assistant's turn that only calls tools has no content. The API says `null`. */
const hasContent = (message: Given) => typeof message?.content === 'string' || message?.content === null;

/** The messages' contents, one after the other. `undefined` if it is not a list of messages. */
function textOfMessages(prompt: unknown): string | undefined {
  if (!Array.isArray(prompt) || !prompt.every(hasContent)) return undefined;
  return prompt.map((message: Given) => message?.content ?? '').join('\n');
}

/** What keeps a list from being one of messages. */
function strangeMessage(prompt: unknown): string {
  const place = Array.isArray(prompt) ? prompt.findIndex((message: Given) => !hasContent(message)) : -1;
  if (place < 0) return '';
  const content = (prompt as readonly Given[])[place]?.content;
  return ` whose message ${place} has ${content === undefined ? 'no content' : `${described(content)} for its content`}`;
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

/** An episode as a trajectory without steps, `null` if it is not to be judged, or a sentence that says why it cannot be read. */
export function trajectoryFromEpisode(
  given: RewardEpisode,
  id: string,
): Trajectory<ReadEpisode['metadata']> | null | string {
  const episode = readEpisode(given);
  if (episode === null || typeof episode === 'string') return episode;
  const { prompt, response, metadata } = episode;
  const asked: readonly Message[] = Array.isArray(given.prompt)
    ? (given.prompt as readonly Message[])
    : [{ role: 'user', content: prompt }];
  const messages: readonly Message[] = [...asked, { role: 'assistant', content: response }];
  const fields = { id, task: { id, prompt, metadata }, steps: [], messages, response, policyVersion: 0 };
  return { ...fields, status: given.status ?? 'completed' };
}

/** The text of a trajectory that text rewards read. Metadata that is not a record is its field `metadata`. */
function episodeOfTrajectory({ task, response, status }: Trajectory): RewardEpisode {
  const { prompt, metadata } = task;
  const known = metadata === undefined || isRecord(metadata) ? metadata : { metadata };
  return { prompt, response, status, metadata: known };
}

/** The episode of a trajectory, whatever its status. @throws ArgumentError if it cannot be read. */
export function episodeOf(trajectory: Trajectory): ReadEpisode {
  const read = readEpisode({ ...episodeOfTrajectory(trajectory), status: 'completed' });
  if (typeof read === 'string') throw new ArgumentError(read);
  return read!;
}

/** An episode as lists of observations, actions, and the policy's logprobs and values. */
export interface BufferEpisode {
  readonly obs: readonly unknown[];
  readonly act: readonly unknown[];
  readonly logprob?: readonly unknown[] | null | undefined;
  readonly value?: readonly unknown[] | null | undefined;
}

/** Collected episodes as trajectories, samples, or a buffer of step lists. */
export type RewardBuffer =
  | readonly (Trajectory | Sample)[]
  | { readonly storage: { readonly episodes: readonly BufferEpisode[] } };

/**
 * The episodes of a buffer, in order.
 *
 * A trajectory or sample gives its prompt, its last response and its metadata. A list of steps gives its first observation, its last
 * action and `{ length, logprobs, values }`. An empty list gives `''`.
 */
export function episodesFromBuffer(buffer: RewardBuffer): RewardEpisode[] {
  requireArguments('episodesFromBuffer', { buffer: 'given' }, buffer);
  if (typeof buffer === 'object' && 'storage' in buffer) return buffer.storage.episodes.map(fromSteps);
  requireArguments('episodesFromBuffer', { buffer: 'objects' }, buffer);
  return buffer.map((entry) => ('task' in entry ? episodeOfTrajectory(entry) : fromSample(entry)));
}

function fromSample({ prompt, response, status, metadata }: Sample): RewardEpisode {
  return { prompt, response, status, metadata };
}

function fromSteps({ obs, act, logprob, value }: BufferEpisode): RewardEpisode {
  return {
    // Checked like everything else when the episode is read.
    prompt: (obs[0] ?? '') as string,
    response: (act.at(-1) ?? '') as string,
    metadata: { length: obs.length, logprobs: logprob, values: value },
  };
}
