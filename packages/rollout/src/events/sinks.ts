import {
  callback,
  type Message,
  parseOptions,
  plural,
  type RecordedTrajectory,
  type RolloutEvent,
  type RolloutSink,
  requireArguments,
  type Step,
  type TokenId,
  type Trajectory,
  terminalText,
  withTokenTexts,
} from '@rlp/core';
import * as z from 'zod';

/** Characters of a text that a line shows. */
const shownCharacters = 400;

/**
 * A sink that writes a line per event, for debugging.
 *
 * The lines show what the policy saw and said with which probability, its tool calls and their results, the environment's answers, how the
 * episode ended, and its reward. Line breaks and control codes of texts are shown as escapes such as `\u001b`.
 *
 * @param write - Takes a line without its line break, such as `console.debug`.
 */
export function debugLogger(write: (line: string) => void): RolloutSink {
  return (event) => write(terminalText(`[${event.episode}] ${lineOf(event)}`.replaceAll('\n', '\\n')));
}

function lineOf(event: RolloutEvent): string {
  switch (event.type) {
    case 'episode-started':
      return event.steps === 0
        ? `started, task ${event.task}`
        : `goes on after ${plural(event.steps, 'step')}`;
    case 'turn-sampled':
      return `step ${event.index} saw ${shown(event.step.observation)} said ${shown(event.step.text)} ${numbersOf(event.step)}`;
    case 'tool-called':
      return `step ${event.index} called ${event.call.function.name}(${event.call.function.arguments}) got ${shown(event.result)}`;
    case 'state-updated':
      return `step ${event.index} was answered ${shown(event.messages)}${millis(event.environmentMs)}`;
    case 'episode-ended':
      return endOf(event.trajectory);
    case 'reward-given':
      return `reward ${event.reward} ${JSON.stringify(event.components)}`;
    case 'trajectory-learned':
      return learnedLine(event.record);
  }
}

function learnedLine({ iteration, trace = [] }: RecordedTrajectory): string {
  const steps = trace.map(({ advantages, episodeAdvantage, stepAdvantage, returnToGo, anchor }) => {
    const parts = { advantage: advantages?.[0], episodeAdvantage, stepAdvantage, returnToGo, anchor };
    return JSON.stringify(parts);
  });
  return `learned in iteration ${iteration}: ${steps.join(' ')}`;
}

function numbersOf({ tokens, behaviorLogprobs, value, stopReason, timing, policyVersion }: Step): string {
  const logprob = behaviorLogprobs.reduce((sum, each) => sum + each, 0);
  const parts = [
    `${plural(tokens.length, 'token')}`,
    `logprob ${logprob.toFixed(3)}`,
    ...(value === undefined ? [] : [`value ${value}`]),
    stopReason,
    ...(policyVersion === undefined ? [] : [`version ${policyVersion}`]),
  ];
  return `(${parts.join(', ')})${millis(timing?.sampleMs)}`;
}

function endOf({ status, termination, steps, outcome, metrics, failure }: Trajectory): string {
  const why = termination === undefined ? '' : `, ${termination.reason}`;
  const detail = failure?.message ?? termination?.detail;
  const parts = [
    `ended: ${status}${why}${detail === undefined ? '' : ` (${detail})`} after ${plural(steps.length, 'step')}`,
    ...(outcome === undefined ? [] : [`outcome ${shown(outcome)}`]),
    ...(metrics === undefined ? [] : [`metrics ${JSON.stringify(metrics)}`]),
  ];
  return parts.join('; ');
}

function shown(value: unknown): string {
  const text = JSON.stringify(Array.isArray(value) ? value.map(plain) : value) ?? 'nothing';
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
}

function plain({ role, content, tool_calls: calls }: Message): object {
  return { role, content, ...(calls && { calls: calls.map(({ function: call }) => call) }) };
}

function millis(ms: number | undefined): string {
  return ms === undefined ? '' : ` in ${ms.toFixed(1)} ms`;
}

const recordSchema = z.strictObject({
  /** Records every n-th trajectory, starting with the first. Default 1. */
  every: z.int().min(1).default(1),
  /**
   * `'episode-ended'` records episodes that ended, aborted ones included. `'reward-given'` waits for the reward and records it too.
   * `'trajectory-learned'` records trajectories that were trained on, with the advantages of tokens and steps. Default `'episode-ended'`.
   */
  on: z.enum(['episode-ended', 'reward-given', 'trajectory-learned']).default('episode-ended'),
});

const withWrite = recordSchema.extend({
  write: callback('a function of a line of text'),
});

/** Options of {@link recordTrajectories}. */
export interface RecordTrajectoriesOptions extends z.input<typeof recordSchema> {
  /** Chooses the trajectories to record. `score` is absent with `on: 'episode-ended'`. Default: all. */
  readonly when?:
    | ((trajectory: Trajectory, score: Omit<RecordedTrajectory, 'trajectory'> | undefined) => boolean)
    | undefined;
  /** Returns the text of each token of a step. Viewers colour tokens by it. By default these texts are not recorded. */
  readonly tokenTexts?: ((tokens: readonly TokenId[]) => readonly string[]) | undefined;
  /** Receives a line of JSON without its line break. `parseRecords` of `@rlp/core` and `rlp view` read it. A promise is not awaited. */
  readonly write: (line: string) => unknown;
}

/**
 * A sink that records whole trajectories: every n-th, or those that a condition picks.
 *
 * @throws OptionsError naming every problem at once.
 */
export function recordTrajectories(options: RecordTrajectoriesOptions): RolloutSink {
  requireArguments('recordTrajectories', { options: 'object' }, options);
  const { when, tokenTexts, ...others } = options;
  const { every, on } = parseOptions('recordTrajectories', withWrite, others, 'RecordTrajectoriesOptions');
  const { write } = others;
  let seen = 0;
  const isPicked = (...[trajectory, score]: Parameters<NonNullable<typeof when>>) =>
    seen++ % every === 0 && when?.(trajectory, score) !== false;
  const writeLine = (record: object) => write(JSON.stringify({ version: 1, ...record }));
  return (event) => {
    if (event.type !== on) return undefined;
    if (event.type === 'episode-ended') {
      return isPicked(event.trajectory, undefined) ? writeLine(event.trajectory) : undefined;
    }
    const record = event.type === 'reward-given' ? rewardedRecord(event) : event.record;
    const { trajectory, ...score } = record;
    if (!isPicked(trajectory, score)) return undefined;
    return writeLine(tokenTexts ? withTokenTexts(record, tokenTexts) : record);
  };
}

function rewardedRecord({
  trajectory,
  reward,
  components,
  failures,
}: Extract<RolloutEvent, { readonly type: 'reward-given' }>): RecordedTrajectory {
  return { trajectory, reward, components, ...(failures && { failures }) };
}
