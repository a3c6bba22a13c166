import {
  type Completion,
  type Environment,
  EnvironmentError,
  type Message,
  RandomStream,
  type RlpError,
  type Sampler,
  SamplerError,
  type State,
  type Step,
  type Task,
  type TokenId,
  type Trajectory,
  type TrajectoryStatus,
} from '@rlp/core';
import { boundaryOf, callEnvironment, callSampler } from './boundary.ts';
import { conversationAfter, type Encoding, encodeView, type View } from './context.ts';
import { nextPrompt } from './next-prompt.ts';
import type { ResolvedRolloutOptions } from './options.ts';

/** What a rollout runs on. */
export interface RolloutDependencies<S extends State = State, Metadata = unknown> extends Encoding {
  readonly environment: Environment<S, Metadata>;
  readonly sampler: Sampler;
}

/** Everything the episodes of one group have in common. */
export interface GroupContext<S extends State, Metadata> {
  readonly dependencies: RolloutDependencies<S, Metadata>;
  readonly options: ResolvedRolloutOptions;
  readonly signal: AbortSignal;
  readonly task: Task<Metadata>;
  /** Unique within a run: names the group, its members and their random streams. */
  readonly groupId: string;
}

/** An episode's record, and what only the manager needs to know of it. */
export interface EpisodeOutcome<Metadata> {
  readonly trajectory: Trajectory<Metadata>;
  /** Turns whose prompt did not continue the tokens before it. */
  readonly splits: number;
  /** Why the last of them did not. */
  readonly splitReason?: string | undefined;
  readonly error?: RlpError | undefined;
}

/** A turn that is ready to be sampled. */
interface Turn<S extends State> {
  readonly state: S;
  readonly view: View;
  readonly prompt: readonly TokenId[];
  readonly maxTokens: number;
}

/** What an episode has gathered so far. */
interface Progress {
  readonly steps: Step[];
  messages: readonly Message[];
  splits: number;
  splitReason?: string | undefined;
  policyVersion: number;
}

/**
 * Runs the G episodes of one task. They share their initial state and one request to the sampler for their first
 * turn; from there each goes its own way. Never rejects for what an environment or a sampler does: that is an
 * outcome with status `failed`, or `aborted` once the signal fired.
 */
export async function runGroup<S extends State, Metadata>(
  context: GroupContext<S, Metadata>,
): Promise<readonly EpisodeOutcome<Metadata>[]> {
  const members = Array.from({ length: context.options.groupSize }, (_, member) => member);
  const startVersion = context.dependencies.sampler.policyVersion;
  const start = (): Progress => ({ steps: [], messages: [], splits: 0, policyVersion: startVersion });
  try {
    const turn = await openEpisodes(context);
    if (turn === 'completed') return members.map((member) => outcome(context, member, start(), 'completed'));
    const completions = await sampleTurn(context, turn, { count: members.length, path: ['first'] });
    return await Promise.all(
      members.map((member) => runEpisode(context, member, turn, completions[member]!, start())),
    );
  } catch (error) {
    return members.map((member) => brokenOutcome(context, member, start(), error));
  }
}

/** Resets the environment, once for the whole group. */
async function openEpisodes<S extends State, Metadata>(
  context: GroupContext<S, Metadata>,
): Promise<Turn<S> | 'completed'> {
  const { dependencies, task, groupId, options } = context;
  const { environment } = dependencies;
  const seed = RandomStream.named(options.seed, 'environment', groupId).integer(0xffffffff);
  const state = await callState(context, 'reset', () => environment.reset(task, seed));
  if (await isTerminal(context, state)) return 'completed';
  const view = await callEnvironment('buildPrompt', () => environment.buildPrompt(state), context);
  const prompt = await callEnvironment('buildPrompt', () => encodeView(view, dependencies), context);
  const room = roomFor(prompt, options);
  if (room < 1) {
    throw new EnvironmentError(
      `the prompt of task "${task.id}" has ${prompt.length} tokens, which leaves no room for an answer in a context ` +
        `of ${options.contextLength}: shorten it or raise contextLength`,
    );
  }
  return { state, view, prompt, maxTokens: room };
}

async function runEpisode<S extends State, Metadata>(
  context: GroupContext<S, Metadata>,
  member: number,
  firstTurn: Turn<S>,
  firstCompletion: Completion,
  progress: Progress,
): Promise<EpisodeOutcome<Metadata>> {
  try {
    let turn = firstTurn;
    let completion = firstCompletion;
    for (;;) {
      await recordStep(context, progress, turn, completion);
      if (completion.stopReason === 'abort') return outcome(context, member, progress, 'aborted');
      const next = await advance(context, progress, turn, completion);
      if (typeof next === 'string') return outcome(context, member, progress, next);
      turn = next;
      const path = [member, progress.steps.length];
      [completion] = (await sampleTurn(context, turn, { count: 1, path })) as [Completion];
    }
  } catch (error) {
    return brokenOutcome(context, member, progress, error);
  }
}

/** Appends what the policy did in a turn. */
async function recordStep<S extends State, Metadata>(
  context: GroupContext<S, Metadata>,
  progress: Progress,
  { state, view, prompt }: Turn<S>,
  { tokens, behaviorLogprobs, text, stopReason, policyVersion }: Completion,
): Promise<void> {
  const { environment } = context.dependencies;
  const step: Step = { promptTokens: prompt, tokens, behaviorLogprobs, text, stopReason };
  progress.steps.push(step);
  progress.messages = conversationAfter(progress.messages, view, text);
  progress.policyVersion = Math.min(progress.policyVersion, policyVersion);
  if (environment.stateKey === undefined) return;
  const stateKey = await callEnvironment('stateKey', () => environment.stateKey?.(state), context);
  progress.steps[progress.steps.length - 1] = { ...step, stateKey };
}

/** Lets the environment answer: the next turn, or how the episode ended. */
async function advance<S extends State, Metadata>(
  context: GroupContext<S, Metadata>,
  progress: Progress,
  turn: Turn<S>,
  { text, stopReason }: Completion,
): Promise<Turn<S> | 'completed' | 'truncated'> {
  const { dependencies, options } = context;
  const { environment } = dependencies;
  const state = await callState(context, 'updateState', () => environment.updateState(turn.state, text));
  if (await isTerminal(context, state)) return stopReason === 'length' ? 'truncated' : 'completed';
  if (progress.steps.length >= options.maxTurns) return 'truncated';

  const view = await callEnvironment('buildPrompt', () => environment.buildPrompt(state), context);
  const last = { view: turn.view, step: progress.steps.at(-1)! };
  const { tokens, continuity, reason } = await callEnvironment(
    'buildPrompt',
    () => nextPrompt(view, last, dependencies, options.history),
    context,
  );
  const maxTokens = roomFor(tokens, options);
  if (maxTokens < 1) return 'truncated';
  if (continuity === 'split') progress.splits += 1;
  progress.splitReason = reason ?? progress.splitReason;
  return { state, view, prompt: tokens, maxTokens };
}

/** Tokens a turn may take after this prompt. */
function roomFor(prompt: readonly TokenId[], { sampling, contextLength }: ResolvedRolloutOptions): number {
  return Math.min(sampling.maxTokens, (contextLength ?? Number.POSITIVE_INFINITY) - prompt.length);
}

/** Draws completions of one turn. `path` names its random stream within the group's. */
async function sampleTurn<S extends State, Metadata>(
  { dependencies, options, signal, groupId }: GroupContext<S, Metadata>,
  { prompt, maxTokens }: Turn<S>,
  { count, path }: { readonly count: number; readonly path: readonly (string | number)[] },
): Promise<readonly Completion[]> {
  const seed = JSON.stringify([options.seed, groupId, ...path]);
  const request = { ...options.sampling, prompt, maxTokens, count, seed };
  return callSampler(async (own) => {
    const completions = await dependencies.sampler.sample({ ...request, signal: own });
    checkCompletions(completions, count);
    return completions;
  }, signal);
}

/** What a sampler of one's own gave is looked at here: further on, a NaN would fail the update of a whole batch. */
function checkCompletions(completions: readonly Completion[], count: number): void {
  if (completions.length !== count) {
    throw new SamplerError(`sampler.sample: expected ${count} completions, got ${completions.length}`);
  }
  for (const [member, { tokens, behaviorLogprobs }] of completions.entries()) {
    const bad = behaviorLogprobs.find((logprob) => !(logprob <= 0 && Number.isFinite(logprob)));
    if (behaviorLogprobs.length === tokens.length && bad === undefined) continue;
    throw new SamplerError(
      `sampler.sample: completion ${member} must have one finite logprob of at most 0 per token, got ` +
        (bad === undefined ? `${behaviorLogprobs.length} for ${tokens.length} tokens` : String(bad)),
    );
  }
}

function isTerminal<S extends State, Metadata>(
  context: GroupContext<S, Metadata>,
  state: S,
): Promise<boolean> {
  return callEnvironment('isTerminal', () => context.dependencies.environment.isTerminal(state), context);
}

/** Calls a method that gives a state, within the environment's time limit, and checks that it gave one. */
async function callState<S extends State, Metadata>(
  { options, signal }: GroupContext<S, Metadata>,
  method: string,
  work: () => S | Promise<S>,
): Promise<S> {
  const state: unknown = await callEnvironment(method, work, {
    signal,
    timeoutMs: options.environmentTimeoutMs,
  });
  if (typeof state === 'object' && state !== null && 'stepCount' in state) return state as S;
  throw new EnvironmentError(
    `environment.${method}: expected a state (an object with prompt, response and stepCount), got ${describe(state)}`,
  );
}

function describe(value: unknown): string {
  return value === null || typeof value !== 'object' ? String(value) : `an object with ${Object.keys(value)}`;
}

function brokenOutcome<S extends State, Metadata>(
  context: GroupContext<S, Metadata>,
  member: number,
  progress: Progress,
  error: unknown,
): EpisodeOutcome<Metadata> {
  if (context.signal.aborted) return outcome(context, member, progress, 'aborted');
  const boundary = boundaryOf(error);
  if (boundary === undefined) throw error;
  return outcome(context, member, progress, 'failed', { boundary, error: error as RlpError });
}

function outcome<S extends State, Metadata>(
  { task, groupId }: GroupContext<S, Metadata>,
  member: number,
  { steps, messages, splits, splitReason, policyVersion }: Progress,
  status: Exclude<TrajectoryStatus, 'pending'>,
  failure?: { readonly boundary: 'environment' | 'sampler'; readonly error: RlpError },
): EpisodeOutcome<Metadata> {
  const trajectory: Trajectory<Metadata> = {
    id: `${groupId}/${member}`,
    task,
    steps,
    messages,
    response: steps.at(-1)?.text ?? '',
    status,
    policyVersion,
    group: { id: groupId, member },
    ...(failure && { failure: { boundary: failure.boundary, message: failure.error.message } }),
  };
  return { trajectory, splits, splitReason, error: failure?.error };
}
