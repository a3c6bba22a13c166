import type { TrajectoryStatus, WorldPoolStatistics } from '@rlp/core';
import type { EpisodeOutcome } from './episode/episode-record.ts';

/** Counts over everything a manager has collected, failures and dropped trajectories included. */
export interface RolloutStatistics {
  readonly groups: number;
  readonly trajectories: number;
  readonly byStatus: Readonly<Record<Exclude<TrajectoryStatus, 'pending'>, number>>;
  /** Failed trajectories, by the boundary that failed. */
  readonly failures: Readonly<Record<'environment' | 'sampler', number>>;
  /** The message of the last failure. */
  readonly lastFailure: string | undefined;
  /** Groups and trajectories that the failure policy left out. */
  readonly dropped: { readonly groups: number; readonly trajectories: number };
  /** Trajectories that an earlier collection began. Their earlier steps are not counted again. */
  readonly carried: number;
  /** Responses. */
  readonly steps: number;
  /** Turns whose prompt did not continue the tokens before it. Each starts another training sequence. */
  readonly splits: number;
  /** Why the last of these turns did not continue. */
  readonly lastSplit: string | undefined;
  /** Tokens sampled, and tokens of the prompts they were conditioned on. */
  readonly tokens: { readonly sampled: number; readonly prompt: number };
  /** Mean steps per trajectory, or 0 before the first. */
  readonly averageTrajectoryLength: number;
  /** Mean sampled tokens per trajectory, or 0 before the first. */
  readonly averageTokens: number;
  /** Live worlds in the environment's pools now, and counts since the pools were made. Absent without pools. */
  readonly worlds?: WorldPoolStatistics | undefined;
}

/** Counts outcomes. */
export class RolloutCounter {
  #groups = 0;
  #trajectories = 0;
  readonly #byStatus = { completed: 0, truncated: 0, aborted: 0, failed: 0 };
  readonly #failures = { environment: 0, sampler: 0 };
  #lastFailure: string | undefined;
  readonly #dropped = { groups: 0, trajectories: 0 };
  #steps = 0;
  #splits = 0;
  #carried = 0;
  #lastSplit: string | undefined;
  readonly #splitReasons = new Set<string>();
  #notes: string[] = [];
  readonly #tokens = { sampled: 0, prompt: 0 };

  /** Groups so far. */
  get groups(): number {
    return this.#groups;
  }

  /** Takes a note. */
  note(text: string): void {
    this.#notes.push(text);
  }

  /** Counts one group's outcomes. */
  addGroup(outcomes: readonly EpisodeOutcome[]): void {
    this.#groups += 1;
    for (const outcome of outcomes) this.#add(outcome);
  }

  /** Counts what a failure policy left out. */
  addDropped(trajectories: number, groups: number): void {
    this.#dropped.trajectories += trajectories;
    this.#dropped.groups += groups;
  }

  #add({ trajectory, splits, splitReason, carriedSteps, isCarried }: EpisodeOutcome): void {
    const { status, failure } = trajectory;
    const steps = trajectory.steps.slice(carriedSteps);
    this.#carried += carriedSteps === undefined ? 0 : 1;
    if (isCarried) return;
    this.#trajectories += 1;
    if (status !== 'pending') this.#byStatus[status] += 1;
    if (failure !== undefined && failure.boundary !== 'reward') this.#failures[failure.boundary] += 1;
    this.#lastFailure = failure?.message ?? this.#lastFailure;
    this.#steps += steps.length;
    this.#splits += splits;
    this.#lastSplit = splitReason ?? this.#lastSplit;
    if (splitReason !== undefined) this.#noteSplit(splitReason);
    for (const { tokens, promptTokens } of steps) {
      this.#tokens.sampled += tokens.length;
      this.#tokens.prompt += promptTokens.length;
    }
  }

  /** One note per reason. */
  #noteSplit(reason: string): void {
    if (this.#splitReasons.has(reason)) return;
    this.#splitReasons.add(reason);
    this.#notes.push(`a conversation continues in a new training row: ${reason}`);
  }

  /** Notes since the last call. */
  takeNotes(): readonly string[] {
    const notes = this.#notes;
    this.#notes = [];
    return notes;
  }

  /** The counts so far, as a value. */
  snapshot(): RolloutStatistics {
    const perTrajectory = (total: number) => (this.#trajectories === 0 ? 0 : total / this.#trajectories);
    return {
      groups: this.#groups,
      trajectories: this.#trajectories,
      byStatus: { ...this.#byStatus },
      failures: { ...this.#failures },
      lastFailure: this.#lastFailure,
      dropped: { ...this.#dropped },
      carried: this.#carried,
      steps: this.#steps,
      splits: this.#splits,
      lastSplit: this.#lastSplit,
      tokens: { ...this.#tokens },
      averageTrajectoryLength: perTrajectory(this.#steps),
      averageTokens: perTrajectory(this.#tokens.sampled),
    };
  }
}
