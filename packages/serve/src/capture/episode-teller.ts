import type { EpisodeEvent, Message, RolloutEvent, Trajectory } from '@rlp/core';
import type { EventBus } from '@rlp/rollout';
import type { CapturedAnswer } from './captured-answer.ts';
import { messagesSince, stepOf } from './conversations.ts';

type Told = RolloutEvent extends infer Event
  ? Event extends RolloutEvent
    ? Omit<Event, keyof EpisodeEvent>
    : never
  : never;

/**
 * Tells what happens in an episode of an agent. The index of a step counts answers in the order in which they were complete.
 *
 * What the world answered becomes known with the request that goes on from an answer.
 */
export class EpisodeTeller {
  readonly #events: EventBus;
  readonly #clock: (() => number) | undefined;
  readonly #place: Pick<EpisodeEvent, 'episode' | 'task'>;
  /** The answer that each answer goes on from, by the conversation of its request. */
  readonly #before = new WeakMap<readonly Message[], CapturedAnswer>();
  readonly #told = new Set<CapturedAnswer>();

  constructor(
    events: EventBus,
    clock: (() => number) | undefined,
    place: Pick<EpisodeEvent, 'episode' | 'task'>,
  ) {
    this.#events = events;
    this.#clock = clock;
    this.#place = place;
  }

  started(): void {
    this.#tell({ type: 'episode-started', steps: 0 });
  }

  /** The policy answered. */
  sampled(answer: CapturedAnswer, index: number): void {
    if (!this.#events.isHeard) return;
    const last = answer.messages && this.#before.get(answer.messages);
    this.#tell({ type: 'turn-sampled', index, step: stepOf(answer, last) });
  }

  /** A request goes on from an answer. Told once for each answer, because agents ask again. */
  answered(answer: CapturedAnswer, index: number, conversation: readonly Message[]): void {
    if (!this.#events.isHeard) return;
    this.#before.set(conversation, answer);
    if (this.#told.has(answer)) return;
    this.#told.add(answer);
    const messages = messagesSince(answer, conversation);
    const results = messages.filter(({ role }) => role === 'tool');
    for (const [place, call] of answer.calls.entries()) {
      const result = (results.find(({ tool_call_id: id }) => id === call.id) ?? results[place])?.content;
      this.#tell({ type: 'tool-called', index, call, ...(result !== undefined && { result }) });
    }
    this.#tell({ type: 'state-updated', index, messages });
  }

  ended(trajectory: Trajectory): void {
    this.#tell({ type: 'episode-ended', trajectory });
  }

  #tell(told: Told): void {
    if (!this.#events.isHeard) return;
    const atMs = this.#clock?.();
    this.#events.send({ ...this.#place, ...(atMs !== undefined && { atMs }), ...told } as RolloutEvent);
  }
}
