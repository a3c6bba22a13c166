import {
  type Completion,
  patternTermination,
  type State,
  type Step,
  type TokenId,
  type ToolSchema,
  withCallMarks,
} from '@rlp/core';
import type { ResolvedRolloutOptions } from '../options.ts';
import type { View } from './context.ts';
import { withView } from './conversation.ts';
import { abortedOutcome, brokenOutcome, type End, type EpisodeOutcome, finish } from './episode-record.ts';
import type { Episode, GroupContext } from './group-context.ts';
import type { Member, Progress } from './member.ts';
import { nextPrompt } from './next-prompt.ts';
import { sampleTurn } from './sample-turn.ts';

/** A turn that is ready to be sampled. */
export interface Turn<S extends State> {
  readonly state: S;
  readonly view: View;
  readonly prompt: readonly TokenId[];
  readonly maxTokens: number;
  /** Tools that the policy can call in it. */
  readonly tools?: readonly ToolSchema[] | undefined;
}

/** A turn and what the policy said in it. */
export interface Answered<S extends State> {
  readonly turn: Turn<S>;
  readonly completion: Completion;
  readonly sampleMs: number | undefined;
}

/** Runs an episode from a turn that the policy answered to its end. */
export async function runEpisode<S extends State, Metadata, Outcome>(
  episode: Episode<S, Metadata, Outcome>,
  first: Answered<S>,
): Promise<EpisodeOutcome<Metadata, Outcome>> {
  const { context, member } = episode;
  const { clock } = context.dependencies;
  const { progress } = member;
  try {
    for (let answered = first; ; ) {
      if (answered.completion.stopReason === 'abort') return abortedOutcome(episode);
      await context.pace.pass();
      await recordStep(episode, answered);
      const asked = clock?.();
      progress.state = await answer(context, answered);
      progress.answered = { steps: progress.steps.length, messages: progress.messages };
      const next = await afterAnswer(context, progress, answered.turn.view);
      if (asked !== undefined) timeEnvironment(progress, clock!() - asked);
      if ('status' in next) return await finish(episode, next);
      context.events.answered(episode, next.view);
      answered = await nextTurn(episode, next);
    }
  } catch (error) {
    return brokenOutcome(episode, error);
  }
}

/** Samples an episode's next turn. */
export async function nextTurn<S extends State, Metadata, Outcome>(
  episode: Episode<S, Metadata, Outcome>,
  turn: Turn<S>,
): Promise<Answered<S>> {
  const { context, index, member } = episode;
  const path = [index, member.progress.steps.length];
  const { completions, sampleMs } = await draw(context, turn, { count: 1, path, members: [member] });
  return { turn, completion: completions[0]!, sampleMs };
}

/** Appends a turn to the steps and the conversation. */
async function recordStep<S extends State, Metadata, Outcome>(
  episode: Episode<S, Metadata, Outcome>,
  { turn: { state, view, prompt }, completion, sampleMs }: Answered<S>,
): Promise<void> {
  const { context, member } = episode;
  const { progress } = member;
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
  const stateKey = await context.environment.stateKey(state);
  if (stateKey !== undefined) progress.steps[progress.steps.length - 1] = { ...step, stateKey };
  context.events.sampled(episode);
}

/** Adds the environment's time to the step that it answered. */
function timeEnvironment({ steps }: Progress<State>, environmentMs: number): void {
  const step = steps.pop()!;
  steps.push({ ...step, timing: { ...step.timing!, environmentMs } });
}

function answer<S extends State, Metadata, Outcome>(
  { environment }: GroupContext<S, Metadata, Outcome>,
  { turn, completion: { text, tokens } }: Answered<S>,
): Promise<S> {
  return environment.updateState(turn.state, text, tokens.length);
}

/** The next turn after the environment answered the last step, or the end of the episode. */
export async function afterAnswer<S extends State, Metadata, Outcome>(
  context: GroupContext<S, Metadata, Outcome>,
  progress: Progress<S>,
  lastView: View,
): Promise<Turn<S> | End> {
  const { environment, options, task } = context;
  const { text, stopReason } = progress.steps.at(-1)!;
  if (await environment.isTerminal(progress.state!)) {
    if (stopReason === 'length') return truncated('tokens');
    return { status: 'completed', termination: await environment.termination(progress.state!) };
  }
  const matched = patternTermination(task.terminationPattern, text);
  if (matched !== undefined) return { status: 'completed', termination: matched };
  if (progress.steps.length >= options.maxTurns) return truncated('turns');
  return promptAfter(context, progress, lastView);
}

/** The turn after the last step, or the end of the episode if the context is full. */
async function promptAfter<S extends State, Metadata, Outcome>(
  { environment, dependencies, options }: GroupContext<S, Metadata, Outcome>,
  progress: Progress<S>,
  lastView: View,
): Promise<Turn<S> | End> {
  const state = progress.state!;
  const last = { view: lastView, step: progress.steps.at(-1)! };
  const { view, tools, encoded } = await environment.show(state, (shown, tools) =>
    nextPrompt({ view: shown, tools }, last, dependencies, options.history),
  );
  const { tokens, continuity, reason } = encoded;
  const maxTokens = roomFor(tokens, options);
  if (maxTokens < 1) return truncated('tokens');
  if (continuity === 'split') progress.splits += 1;
  progress.splitReason = reason ?? progress.splitReason;
  return { state, view, prompt: tokens, maxTokens, tools };
}

function truncated(reason: 'turns' | 'tokens'): End {
  return { status: 'truncated', termination: { reason } };
}

/** Tokens a turn may take after this prompt. */
export function roomFor(
  prompt: readonly TokenId[],
  { sampling, contextLength }: ResolvedRolloutOptions,
): number {
  return Math.min(sampling.maxTokens, (contextLength ?? Number.POSITIVE_INFINITY) - prompt.length);
}

/** Draws completions of one turn. `path` names its random stream within the group's. */
export async function draw<S extends State, Metadata, Outcome>(
  context: GroupContext<S, Metadata, Outcome>,
  { prompt, maxTokens, tools }: Turn<S>,
  {
    count,
    path,
    members,
  }: {
    readonly count: number;
    readonly path: readonly (string | number)[];
    /** Members that wait for the completions. */
    readonly members: readonly Pick<Member<S>, 'waitsFor'>[];
  },
): Promise<{ readonly completions: readonly Completion[]; readonly sampleMs: number | undefined }> {
  const { dependencies, options, signal, watchdog, groupId } = context;
  const { sampler, clock, tokenizer } = dependencies;
  const seed = JSON.stringify([options.seed, groupId, ...path]);
  const begun = clock?.();
  for (const member of members) member.waitsFor = 'sampler';
  const request = { prompt, maxTokens, count, seed };
  const completions = await sampleTurn(sampler, request, { options, signal, watchdog });
  for (const member of members) member.waitsFor = 'environment';
  const sampleMs = begun === undefined ? undefined : clock!() - begun;
  context.meter.add(completions.reduce((sum, { tokens }) => sum + tokens.length, 0));
  return {
    completions: completions.map((completion) => withCallMarks(completion, tools, tokenizer)),
    sampleMs,
  };
}
