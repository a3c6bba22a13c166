import {
  type Completion,
  EnvironmentError,
  patternTermination,
  RandomStream,
  type State,
  type Step,
  type TokenId,
} from '@rlp/core';
import { encodeView, type View } from './context.ts';
import { withView } from './conversation.ts';
import {
  abortedOutcome,
  brokenOutcome,
  type End,
  type EpisodeOutcome,
  finish,
  type Progress,
} from './episode-record.ts';
import type { GroupContext } from './group-context.ts';
import { nextPrompt } from './next-prompt.ts';
import type { ResolvedRolloutOptions } from './options.ts';
import { sampleTurn } from './sample-turn.ts';

/** A turn that is ready to be sampled. */
interface Turn<S extends State> {
  readonly state: S;
  readonly view: View;
  readonly prompt: readonly TokenId[];
  readonly maxTokens: number;
}

/** A group whose members have yet to act. */
type Opening<S extends State> = { readonly state: S } & ({ readonly end: End } | { readonly turn: Turn<S> });

/**
 * Runs the G episodes of one task. They share their initial state and one request to the sampler for their first
 * turn. From there each goes its own way. Never rejects because of an environment or a sampler. Their errors are
 * outcomes with status `failed`, or `aborted` once the signal fired.
 */
export async function runGroup<S extends State, Metadata, Outcome>(
  context: GroupContext<S, Metadata, Outcome>,
): Promise<readonly EpisodeOutcome<Metadata, Outcome>[]> {
  const members = Array.from({ length: context.options.groupSize }, (_, member) => member);
  const startVersion = context.dependencies.sampler.policyVersion;
  const start = (state?: S): Progress<S> => ({
    steps: [],
    state,
    messages: [],
    splits: 0,
    policyVersion: startVersion,
  });
  try {
    const opening = await openEpisodes(context);
    const { state } = opening;
    if ('end' in opening) {
      return await Promise.all(members.map((member) => finish(context, member, start(state), opening.end)));
    }
    const { turn } = opening;
    const { completions, sampleMs } = await draw(context, turn, { count: members.length, path: ['first'] });
    const play = (member: number) =>
      runEpisode(context, member, start(state), { turn, completion: completions[member]!, sampleMs });
    return await Promise.all(members.map(play));
  } catch (error) {
    return members.map((member) => brokenOutcome(context, member, start(), error));
  }
}

/** Resets the environment, once for the whole group. */
async function openEpisodes<S extends State, Metadata, Outcome>(
  context: GroupContext<S, Metadata, Outcome>,
): Promise<Opening<S>> {
  const { environment, dependencies, task, groupId, options } = context;
  const seed = RandomStream.named(options.seed, 'environment', groupId).integer(0xffffffff);
  const state = await environment.reset(task, seed);
  if (await environment.isTerminal(state)) {
    return { state, end: { status: 'completed', termination: await environment.termination(state) } };
  }
  const { view, encoded: prompt } = await environment.show(state, (shown, tools) =>
    encodeView(shown, dependencies, tools),
  );
  const room = roomFor(prompt, options);
  if (room < 1) {
    throw new EnvironmentError(
      `the prompt of task "${task.id}" has ${prompt.length} tokens, which leaves no room for an answer in a context ` +
        `of ${options.contextLength}: shorten it or raise contextLength`,
    );
  }
  return { state, turn: { state, view, prompt, maxTokens: room } };
}

/** A turn and what the policy said in it. */
interface Answered<S extends State> {
  readonly turn: Turn<S>;
  readonly completion: Completion;
  readonly sampleMs: number | undefined;
}

async function runEpisode<S extends State, Metadata, Outcome>(
  context: GroupContext<S, Metadata, Outcome>,
  member: number,
  progress: Progress<S>,
  first: Answered<S>,
): Promise<EpisodeOutcome<Metadata, Outcome>> {
  const { clock } = context.dependencies;
  try {
    for (let answered = first; ; ) {
      await recordStep(context, progress, answered);
      if (answered.completion.stopReason === 'abort') return abortedOutcome(context, member, progress);
      const asked = clock?.();
      const next = await advance(context, progress, answered);
      if (asked !== undefined) timeEnvironment(progress, clock!() - asked);
      if ('status' in next) return await finish(context, member, progress, next);
      const path = [member, progress.steps.length];
      const { completions, sampleMs } = await draw(context, next, { count: 1, path });
      answered = { turn: next, completion: completions[0]!, sampleMs };
    }
  } catch (error) {
    return brokenOutcome(context, member, progress, error);
  }
}

/** Appends what the policy did in a turn. */
async function recordStep<S extends State, Metadata, Outcome>(
  { environment }: GroupContext<S, Metadata, Outcome>,
  progress: Progress<S>,
  { turn: { state, view, prompt }, completion, sampleMs }: Answered<S>,
): Promise<void> {
  const { tokens, behaviorLogprobs, text, stopReason, policyVersion } = completion;
  const { observation, messages } = withView(progress.messages, view);
  progress.messages = [...messages, { role: 'assistant', content: text }];
  progress.policyVersion = Math.min(progress.policyVersion, policyVersion);
  const step: Step = {
    promptTokens: prompt,
    tokens,
    behaviorLogprobs,
    text,
    stopReason,
    policyVersion,
    observation,
    ...(sampleMs !== undefined && { timing: { sampleMs } }),
  };
  progress.steps.push(step);
  const stateKey = await environment.stateKey(state);
  if (stateKey !== undefined) progress.steps[progress.steps.length - 1] = { ...step, stateKey };
}

/** Adds what the environment took to the step that it answered. */
function timeEnvironment({ steps }: Progress<State>, environmentMs: number): void {
  const step = steps.pop()!;
  steps.push({ ...step, timing: { ...step.timing!, environmentMs } });
}

/** Lets the environment answer. Returns the next turn, or how the episode ended. */
async function advance<S extends State, Metadata, Outcome>(
  { environment, dependencies, options, task }: GroupContext<S, Metadata, Outcome>,
  progress: Progress<S>,
  { turn, completion: { text, tokens: sampled, stopReason } }: Answered<S>,
): Promise<Turn<S> | End> {
  const state = await environment.updateState(turn.state, text, sampled.length);
  progress.state = state;
  if (await environment.isTerminal(state)) {
    if (stopReason === 'length') return truncated('tokens');
    return { status: 'completed', termination: await environment.termination(state) };
  }
  const matched = patternTermination(task.terminationPattern, text);
  if (matched !== undefined) return { status: 'completed', termination: matched };
  if (progress.steps.length >= options.maxTurns) return truncated('turns');

  const last = { view: turn.view, step: progress.steps.at(-1)! };
  const { view, encoded } = await environment.show(state, (shown, tools) =>
    nextPrompt({ view: shown, tools }, last, dependencies, options.history),
  );
  const { tokens, continuity, reason } = encoded;
  const maxTokens = roomFor(tokens, options);
  if (maxTokens < 1) return truncated('tokens');
  if (continuity === 'split') progress.splits += 1;
  progress.splitReason = reason ?? progress.splitReason;
  return { state, view, prompt: tokens, maxTokens };
}

function truncated(reason: 'turns' | 'tokens'): End {
  return { status: 'truncated', termination: { reason } };
}

/** Tokens a turn may take after this prompt. */
function roomFor(prompt: readonly TokenId[], { sampling, contextLength }: ResolvedRolloutOptions): number {
  return Math.min(sampling.maxTokens, (contextLength ?? Number.POSITIVE_INFINITY) - prompt.length);
}

/** Draws completions of one turn. `path` names its random stream within the group's. */
async function draw<S extends State, Metadata, Outcome>(
  {
    dependencies: { sampler, clock },
    options,
    signal,
    watchdog,
    groupId,
  }: GroupContext<S, Metadata, Outcome>,
  { prompt, maxTokens }: Turn<S>,
  { count, path }: { readonly count: number; readonly path: readonly (string | number)[] },
): Promise<{ readonly completions: readonly Completion[]; readonly sampleMs: number | undefined }> {
  const seed = JSON.stringify([options.seed, groupId, ...path]);
  const begun = clock?.();
  const completions = await sampleTurn(
    sampler,
    { prompt, maxTokens, count, seed },
    { options, signal, watchdog },
  );
  return { completions, sampleMs: begun === undefined ? undefined : clock!() - begun };
}
