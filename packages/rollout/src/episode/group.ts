import { EnvironmentError, plural, RandomStream, type State } from '@rlp/core';
import { encodeView } from './context.ts';
import { draw, roomFor, runEpisode, type Turn } from './episode.ts';
import { brokenOutcome, type End, type EpisodeOutcome, finish } from './episode-record.ts';
import { type Episode, episodesOf, type GroupContext } from './group-context.ts';
import { emptyProgress, isOver } from './member.ts';
import { resumeEpisode } from './resume-episode.ts';

/** A group whose members have yet to act. */
type Opening<S extends State> = { readonly state: S } & ({ readonly end: End } | { readonly turn: Turn<S> });

/**
 * Runs the G episodes of one task. They share their initial state and one request to the sampler for their first turn. Members that another
 * collection began continue from where they stood.
 *
 * Never rejects because of an environment or a sampler. Their errors are outcomes with status `failed`, or `aborted` once the signal fired.
 */
export async function runGroup<S extends State, Metadata, Outcome>(
  context: GroupContext<S, Metadata, Outcome>,
): Promise<readonly EpisodeOutcome<Metadata, Outcome>[]> {
  const episodes = episodesOf(context);
  const hasBegun = ({ index }: { readonly index: number }) => {
    const known = context.carried?.get(index);
    return known !== undefined && (known.steps.length > 0 || isOver(known));
  };
  const fresh = episodes.filter((episode) => !hasBegun(episode));
  const carried = episodes.filter(hasBegun);
  const outcomes = await Promise.all([
    fresh.length === 0 ? [] : beginEpisodes(context, fresh),
    ...carried.map((episode) => resumeEpisode(episode, context.carried!.get(episode.index)!)),
  ]);
  const [begun, ...others] = outcomes;
  for (const [at, { index }] of carried.entries()) begun[index] = others[at]!;
  return begun;
}

/** Runs the episodes that have not acted yet. */
async function beginEpisodes<S extends State, Metadata, Outcome>(
  context: GroupContext<S, Metadata, Outcome>,
  episodes: readonly Episode<S, Metadata, Outcome>[],
): Promise<EpisodeOutcome<Metadata, Outcome>[]> {
  const startVersion = episodes[0]!.member.progress.policyVersion;
  const outcomes: EpisodeOutcome<Metadata, Outcome>[] = [];
  type Run = (
    episode: Episode<S, Metadata, Outcome>,
  ) => EpisodeOutcome<Metadata, Outcome> | Promise<EpisodeOutcome<Metadata, Outcome>>;
  const all = async (run: Run) => {
    const settle = async (episode: Episode<S, Metadata, Outcome>) => {
      outcomes[episode.index] = await run(episode);
    };
    await Promise.all(episodes.map(settle));
    return outcomes;
  };
  const open = (state?: S) => {
    for (const { member } of episodes) member.progress = emptyProgress(startVersion, state);
  };
  open(firstState(context, episodes).state);
  for (const episode of episodes) context.events.started(episode);
  try {
    const opening = await openEpisodes(context, episodes);
    open(opening.state);
    if ('end' in opening) return await all((episode) => finish(episode, opening.end));
    const { turn } = opening;
    // Member m draws from stream m, whoever else is asked for.
    const count = Math.max(...episodes.map(({ index }) => index)) + 1;
    const { completions, sampleMs } = await draw(context, turn, {
      count,
      path: ['first'],
      members: episodes.map(({ member }) => member),
    });
    return await all((episode) =>
      runEpisode(episode, { turn, completion: completions[episode.index]!, sampleMs }),
    );
  } catch (error) {
    return all((episode) => brokenOutcome(episode, error));
  }
}

/** The first state and turn, once for the whole group. */
async function openEpisodes<S extends State, Metadata, Outcome>(
  context: GroupContext<S, Metadata, Outcome>,
  episodes: readonly Episode<S, Metadata, Outcome>[],
): Promise<Opening<S>> {
  const { environment, dependencies, task, groupId, options } = context;
  const seed = RandomStream.named(options.seed, 'environment', groupId).integer(0xffffffff);
  const given = firstState(context, episodes);
  const state =
    given.state === undefined
      ? await environment.reset(task, seed)
      : environment.given(given.state, given.environmentVersion);
  if (await environment.isTerminal(state)) {
    return { state, end: { status: 'completed', termination: await environment.termination(state) } };
  }
  const {
    view,
    tools,
    encoded: prompt,
  } = await environment.show(state, (shown, offered) => encodeView(shown, dependencies, offered));
  const room = roomFor(prompt, options);
  if (room < 1) {
    throw new EnvironmentError(
      `the prompt of task "${task.id}" has ${plural(prompt.length, 'token')}, which leaves no room for an answer in a context ` +
        `of ${options.contextLength}: shorten it or raise contextLength`,
    );
  }
  return { state, turn: { state, view, prompt, maxTokens: room, tools } };
}

/** The state that the members begin in, if it is known before the environment is asked. */
function firstState<S extends State, Metadata, Outcome>(
  { state, carried }: GroupContext<S, Metadata, Outcome>,
  episodes: readonly Episode<S, Metadata, Outcome>[],
): { readonly state?: S | undefined; readonly environmentVersion?: string | undefined } {
  if (state !== undefined) return { state };
  const known = carried?.get(episodes[0]!.index);
  return { state: known?.state as S | undefined, environmentVersion: known?.environmentVersion };
}
