import {
  type ChatRenderer,
  isPromiseLike,
  type Message,
  messageOf,
  type RolloutEvent,
  type RolloutSink,
  type State,
  type ToolCall,
  type Trajectory,
} from '@rlp/core';
import type { View } from '../episode/context.ts';
import { withCalls, withView } from '../episode/conversation.ts';
import type { Progress } from '../episode/member.ts';

/** What the events of an episode are made of. */
interface Source {
  readonly context: {
    readonly task: { readonly id: string };
    readonly groupId: string;
    readonly dependencies: { readonly chat?: ChatRenderer | undefined };
  };
  readonly index: number;
  readonly member: { readonly progress: Progress<State> };
}

type Told = RolloutEvent extends infer Event
  ? Event extends RolloutEvent
    ? Omit<Event, 'episode' | 'task' | 'atMs'>
    : never
  : never;

/** Sends events to sinks. Without a sink nothing is computed. A failing sink is noted once and still called. */
export class EventBus {
  readonly #sinks: readonly RolloutSink[];
  readonly #note: (text: string) => void;
  readonly #clock: (() => number) | undefined;
  readonly #faulty = new Set<RolloutSink>();

  constructor(
    sinks: readonly RolloutSink[],
    note: (text: string) => void,
    clock: (() => number) | undefined,
  ) {
    this.#sinks = sinks;
    this.#note = note;
    this.#clock = clock;
  }

  /** Whether there is a sink. */
  get isHeard(): boolean {
    return this.#sinks.length > 0;
  }

  /** Sends an event to every sink. */
  send(event: RolloutEvent): void {
    for (const sink of this.#sinks) {
      try {
        const answer = sink(event);
        if (isPromiseLike(answer)) answer.then(undefined, (error: unknown) => this.#fault(sink, error));
      } catch (error) {
        this.#fault(sink, error);
      }
    }
  }

  /** An episode begins or goes on. */
  started(source: Source): void {
    if (!this.isHeard) return;
    this.#tell(source, {
      type: 'episode-started',
      steps: source.member.progress.steps.length,
    });
  }

  /** The policy answered. Sends its last step. */
  sampled(source: Source): void {
    if (!this.isHeard) return;
    const { steps } = source.member.progress;
    this.#tell(source, { type: 'turn-sampled', index: steps.length - 1, step: steps.at(-1)! });
  }

  /** The environment answered. Sends what it shows now. */
  answered(source: Source, view: View): void {
    if (!this.isHeard) return;
    const { messages: before, steps } = source.member.progress;
    const messages = withView(before, view).messages.slice(before.length);
    const index = steps.length - 1;
    const said = Array.isArray(view) ? (view as readonly Message[])[before.length - 1] : undefined;
    const { tool_calls: calls = [] } = withCalls(said ?? before.at(-1)!, source.context.dependencies.chat);
    for (const [at, call] of calls.entries()) {
      const result = resultOf(call, at, messages);
      this.#tell(source, {
        type: 'tool-called',
        index,
        call,
        ...(result !== undefined && { result }),
      });
    }
    const environmentMs = steps.at(-1)!.timing?.environmentMs;
    const timing = environmentMs === undefined ? {} : { environmentMs };
    this.#tell(source, { type: 'state-updated', index, messages, ...timing });
  }

  /** An episode ended. */
  ended(source: Source, trajectory: Trajectory): void {
    if (!this.isHeard) return;
    this.#tell(source, { type: 'episode-ended', trajectory });
  }

  #tell({ context: { groupId, task }, index: member }: Source, told: Told): void {
    const atMs = this.#clock?.();
    const place = { episode: `${groupId}/${member}`, task: task.id, ...(atMs !== undefined && { atMs }) };
    this.send({ ...place, ...told } as RolloutEvent);
  }

  #fault(sink: RolloutSink, error: unknown): void {
    if (this.#faulty.has(sink)) return;
    this.#faulty.add(sink);
    this.#note(`a sink of rollout events failed, and the rollout goes on: ${messageOf(error)}`);
  }
}

/** The text that answers a call: by its id, else by its place among the answers. */
function resultOf({ id }: ToolCall, place: number, messages: readonly Message[]): string | undefined {
  const answers = messages.filter(({ role }) => role === 'tool');
  return (answers.find(({ tool_call_id: of }) => of === id) ?? answers[place])?.content;
}
