import { plural, requireFields, type State } from '@rlp/core';
import type { GroupContext } from '../episode/group-context.ts';
import type { Member, WaitsFor } from '../episode/member.ts';

/** A running episode. */
export interface RunningEpisode {
  /** Id of its trajectory. */
  readonly episode: string;
  readonly task: string;
  /** Responses so far. */
  readonly turns: number;
  /** What it waits for. */
  readonly waitsFor: WaitsFor;
  /** Milliseconds since it began. Absent without a clock. */
  readonly ageMs?: number | undefined;
}

/** What runs at one moment. */
export interface RolloutProgress {
  /** Groups that are queued and that run, and those that were yielded since the manager was made. */
  readonly groups: { readonly queued: number; readonly running: number; readonly yielded: number };
  /** Episodes of the running groups. */
  readonly episodes: {
    readonly running: number;
    readonly ended: number;
    /** Running episodes by what they wait for. `start` is the environment's `reset`. */
    readonly waitingFor: Readonly<Record<'start' | 'sampler' | 'environment', number>>;
  };
  /** Tokens sampled per second over the last ten seconds. Absent without a clock. */
  readonly tokensPerSecond?: number | undefined;
  /** The episode that has run longest. Absent if none runs. */
  readonly slowest?: RunningEpisode | undefined;
}

/** What is known besides the groups that run. */
interface Known {
  readonly queued: number;
  readonly yielded: number;
  readonly tokensPerSecond: number | undefined;
  readonly nowMs: number | undefined;
}

/** Looks at the groups that run. The first is the oldest. */
export function progressOf<S extends State, Metadata, Outcome>(
  running: readonly GroupContext<S, Metadata, Outcome>[],
  { queued, yielded, tokensPerSecond, nowMs }: Known,
): RolloutProgress {
  const waitingFor = { start: 0, sampler: 0, environment: 0 };
  let ended = 0;
  let slowest: RunningEpisode | undefined;
  for (const { groupId, task, members } of running) {
    for (const [place, member] of members.entries()) {
      if (member.trajectory !== undefined || member.waitsFor === 'nothing') {
        ended += 1;
        continue;
      }
      waitingFor[member.waitsFor] += 1;
      slowest ??= { episode: `${groupId}/${place}`, task: task.id, ...stateOf(member, nowMs) };
    }
  }
  return {
    groups: { queued, running: running.length, yielded },
    episodes: { running: waitingFor.start + waitingFor.sampler + waitingFor.environment, ended, waitingFor },
    ...(tokensPerSecond !== undefined && { tokensPerSecond }),
    ...(slowest !== undefined && { slowest }),
  };
}

function stateOf<S extends State>({ progress, waitsFor, sinceMs }: Member<S>, nowMs: number | undefined) {
  const ageMs = sinceMs === undefined || nowMs === undefined ? {} : { ageMs: nowMs - sinceMs };
  return { turns: progress.steps.length, waitsFor, ...ageMs };
}

/** Progress as one line of text. */
export function progressLine(inputs: RolloutProgress): string {
  requireFields('progressLine', { groups: 'object', episodes: 'object', tokensPerSecond: 'number?' }, inputs);
  const { groups, episodes, tokensPerSecond, slowest } = inputs;
  requireFields('progressLine: episodes', { waitingFor: 'object' }, episodes);
  const { running, ended, waitingFor } = episodes;
  const seconds = (ms: number | undefined) => (ms === undefined ? '' : ` in ${(ms / 1000).toFixed(1)} s`);
  const parts = [
    `${plural(groups.yielded, 'group')} done, ${groups.running} running, ${groups.queued} queued`,
    `${plural(running, 'episode')} running (${waitingFor.sampler} wait for the sampler, ${waitingFor.environment} for the environment), ${ended} ended`,
    ...(tokensPerSecond === undefined ? [] : [`${Math.round(tokensPerSecond)} tokens/s`]),
    ...(slowest === undefined
      ? []
      : [
          `slowest ${slowest.episode}: ${plural(slowest.turns, 'turn')}${seconds(slowest.ageMs)}, waits for ${slowest.waitsFor}`,
        ]),
  ];
  return parts.join('; ');
}
