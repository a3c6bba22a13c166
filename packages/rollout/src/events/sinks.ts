import {
  type Message,
  parseOptions,
  type RolloutEvent,
  type RolloutSink,
  type ScoredTrajectory,
  type Step,
  type Trajectory,
} from '@rlp/core';
import * as z from 'zod';
import { trajectoryToLine } from '../records.ts';

/** Characters of a text that a line shows. */
const shownCharacters = 400;

/**
 * A sink that writes a line per event, for debugging: what the policy saw, said and with which probability, the tools it called and what
 * they returned, what the environment added, how the episode ended and what it earned.
 *
 * @param write - Takes a line without its line break, such as `console.debug`.
 */
export function debugLogger(write: (line: string) => void): RolloutSink {
  return (event) => write(`[${event.episode}] ${lineOf(event)}`);
}

function lineOf(event: RolloutEvent): string {
  switch (event.type) {
    case 'episode-started':
      return event.steps === 0 ? `started, task ${event.task}` : `goes on after ${event.steps} steps`;
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
  }
}

function numbersOf({ tokens, behaviorLogprobs, value, stopReason, timing, policyVersion }: Step): string {
  const logprob = behaviorLogprobs.reduce((sum, each) => sum + each, 0);
  const parts = [
    `${tokens.length} tokens`,
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
    `ended: ${status}${why}${detail === undefined ? '' : ` (${detail})`} after ${steps.length} steps`,
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
  /** Records every n-th trajectory, beginning with the first. Default 1. */
  every: z.int().min(1).default(1),
  /**
   * `'episode-ended'` records episodes that ended, aborted ones included. `'reward-given'` waits for the reward: steps then have theirs, and
   * `when` can read it. Default `'episode-ended'`.
   */
  on: z.enum(['episode-ended', 'reward-given']).default('episode-ended'),
});

/** Options of {@link recordTrajectories}. */
export interface RecordTrajectoriesOptions extends z.input<typeof recordSchema> {
  /** Which of them to record. `score` is there with `on: 'reward-given'`. Default: all. */
  readonly when?:
    | ((trajectory: Trajectory, score: Omit<ScoredTrajectory, 'trajectory'> | undefined) => boolean)
    | undefined;
  /** Takes a line of JSON without its line break, as `trajectoriesFromJsonl` reads it. A promise is not awaited. */
  readonly write: (line: string) => unknown;
}

/**
 * A sink that records whole trajectories: every n-th, or those that a condition picks.
 *
 * @throws `OptionsError` naming every problem at once.
 */
export function recordTrajectories({ when, write, ...options }: RecordTrajectoriesOptions): RolloutSink {
  const { every, on } = parseOptions('recordTrajectories', recordSchema, options);
  let seen = 0;
  return (event) => {
    if (event.type !== on) return undefined;
    const { trajectory } = event;
    const score = event.type === 'reward-given' ? event : undefined;
    if (seen++ % every !== 0 || when?.(trajectory, score) === false) return undefined;
    return write(trajectoryToLine(trajectory));
  };
}
