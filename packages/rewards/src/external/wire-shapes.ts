import { ArgumentError, isRecord } from '@rlp/core';
import { type ReadEpisode, type RewardEpisode, referenceOf } from '../shared/episode.ts';

/** What a request asks: one episode or several. */
export interface WireRequest {
  readonly form: 'one' | 'many';
  /** As they came: their fields are checked when they are read. */
  readonly episodes: readonly RewardEpisode[];
}

/** JSON that reward models are asked and answer with, from both sides. */
export interface WireShape {
  readonly name: string;
  /** Whether a request may hold several episodes. */
  readonly capacity: 'one' | 'many';
  /** Client: the body that asks about the episodes. One or more, as the capacity says. */
  readonly writeRequest: (episodes: readonly ReadEpisode[]) => unknown;
  /** Client: what the body of an answer says about each episode. `undefined` for any other body. */
  readonly readAnswer: (body: unknown) => readonly unknown[] | undefined;
  /** Server: what the body of a request asks. @throws ArgumentError for another one. */
  readonly readRequest: (body: unknown) => WireRequest;
  /** Server: the body that answers. `null` if an episode is unscorable. Problems say why. */
  readonly writeAnswer: (
    rewards: readonly (number | null)[],
    form: WireRequest['form'],
    problems: readonly string[],
  ) => unknown;
}

/**
 * `{"prompt", "response", "metadata"}` is answered by `{"reward": number | null}`, and
 * `{"episodes": [{"prompt", "response", "metadata"}, …]}` by `{"rewards": [number | null, …]}`. `problems` says why rewards are `null`.
 */
export const episodeShape: WireShape = {
  name: 'episode',
  capacity: 'many',
  writeRequest: (episodes) => {
    const records = episodes.map(({ prompt, response, metadata }) => ({ prompt, response, metadata }));
    return records.length === 1 ? records[0] : { episodes: records };
  },
  readAnswer: (body) => {
    if (!isRecord(body)) return undefined;
    if (Array.isArray(body.rewards)) return body.rewards;
    return 'reward' in body ? [body.reward] : undefined;
  },
  readRequest: (body) => {
    if (isRecord(body) && Array.isArray(body.episodes)) return { form: 'many', episodes: body.episodes };
    if (isRecord(body) && 'response' in body) return { form: 'one', episodes: [body as RewardEpisode] };
    throw wrongBody(
      '{"prompt", "response", "metadata"} or {"episodes": [{"prompt", "response", "metadata"}]}',
    );
  },
  writeAnswer: (rewards, form, problems) => ({
    ...(form === 'many' ? { rewards } : { reward: rewards[0] }),
    ...(problems.length > 0 && { problems }),
  }),
};

/**
 * The remote reward model of slime: `{"prompt", "response", "label"}` is answered by the number itself. An answer
 * `{"reward"}` or `{"score"}` is read too. The label is `metadata.label`, else the reference answer.
 *
 * @see https://github.com/THUDM/slime, `slime/rollout/rm_hub`
 */
export const slimeShape: WireShape = {
  name: 'slime',
  capacity: 'one',
  writeRequest: ([episode]) => {
    const { prompt, response, metadata } = episode!;
    return { prompt, response, label: labelOf(metadata) ?? null };
  },
  readAnswer: (body) => {
    if (typeof body === 'number' || body === null) return [body];
    if (!isRecord(body)) return undefined;
    const reward = body.reward === undefined ? body.score : body.reward;
    return reward === undefined ? undefined : [reward];
  },
  readRequest: (body) => {
    if (!isRecord(body) || !('response' in body)) throw wrongBody('{"prompt", "response", "label"}');
    const { prompt, response, label } = body as RewardEpisode & { readonly label?: unknown };
    return { form: 'one', episodes: [{ prompt, response, metadata: { label } }] };
  },
  writeAnswer: ([reward]) => reward,
};

/**
 * The remote reward model of OpenRLHF: `{"query": [prompt + response], "prompts": […], "labels": […]}` is answered by
 * `{"rewards": [number, …]}`. A server reads as response what follows the prompt in its query.
 *
 * @see https://github.com/OpenRLHF/OpenRLHF, `openrlhf/utils/remote_rm_utils.py`
 */
export const openRlhfShape: WireShape = {
  name: 'openrlhf',
  capacity: 'many',
  writeRequest: (episodes) => ({
    query: episodes.map(({ prompt, response }) => prompt + response),
    prompts: episodes.map(({ prompt }) => prompt),
    labels: episodes.map(({ metadata }) => labelOf(metadata) ?? ''),
  }),
  readAnswer: (body) => (isRecord(body) && Array.isArray(body.rewards) ? body.rewards : undefined),
  readRequest: (body) => {
    if (!isRecord(body) || !Array.isArray(body.query)) {
      throw wrongBody('{"query": [text], "prompts": [text], "labels": [text]}');
    }
    const {
      query,
      prompts = [],
      labels = [],
    } = body as { query: unknown[]; prompts?: unknown; labels?: unknown };
    const columns = { prompts: columnOf(prompts, query.length), labels: columnOf(labels, query.length) };
    const episodes = query.map((text, row) => {
      const prompt = columns.prompts[row] ?? '';
      const isPrefix = typeof prompt === 'string' && typeof text === 'string' && text.startsWith(prompt);
      const response = isPrefix ? text.slice(prompt.length) : text;
      const record: object = { prompt, response, metadata: { label: columns.labels[row] } };
      return record as RewardEpisode;
    });
    return { form: 'many', episodes };
  },
  writeAnswer: (rewards) => ({ rewards }),
};

/** The wire shapes that have a name. */
export const wireShapes = { episode: episodeShape, slime: slimeShape, openrlhf: openRlhfShape } as const;

function columnOf(column: unknown, rows: number): readonly unknown[] {
  if (Array.isArray(column) && (column.length === rows || column.length === 0)) return column;
  const came = Array.isArray(column) ? `${column.length}` : typeof column;
  throw new ArgumentError(`expected as many prompts and labels as queries, ${rows}, got ${came}`);
}

function labelOf(metadata: Readonly<Record<string, unknown>>): unknown {
  return metadata.label ?? referenceOf(metadata);
}

function wrongBody(expected: string): ArgumentError {
  return new ArgumentError(`expected a body ${expected}`);
}
