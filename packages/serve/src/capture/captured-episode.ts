import {
  type ChatRenderer,
  onAbort,
  plural,
  type SamplingOptions,
  type TokenId,
  type Trajectory,
  withCallMarks,
} from '@rlp/core';
import type { EventBus } from '@rlp/rollout';
import type { Admission } from '../admission.ts';
import { Answerer } from '../answer/answerer.ts';
import { renderByTemplate } from '../answer/asked-request.ts';
import type { AskedRequest } from '../answer/observer.ts';
import type { Answer, Conversation } from '../answer/request.ts';
import { ApiError } from '../api-error.ts';
import type { ServedPolicy } from '../served-policy.ts';
import type { ServedWeights } from '../weights/served-weights.ts';
import type { CapturedAnswer } from './captured-answer.ts';
import { CapturedPolicy } from './captured-policy.ts';
import { answerBefore, continuedPrompt } from './continued-prompt.ts';
import { EpisodeRequests } from './episode-requests.ts';
import { EpisodeTeller } from './episode-teller.ts';

/** What episodes share. */
export interface EpisodeSetting {
  readonly policy: ServedPolicy;
  readonly chat: ChatRenderer | undefined;
  readonly weights: ServedWeights;
  readonly admission: Admission;
  readonly seed: string;
  readonly sampling: SamplingOptions;
  readonly contextLength: number;
  readonly maxTurns: number;
  readonly history: 'sampled' | 'template';
  readonly samplerTimeoutMs: number;
  readonly clock: (() => number) | undefined;
  readonly events: EventBus;
}

/** Which episode it is. */
export interface EpisodePlace {
  readonly group: string;
  readonly member: number;
  /** Id of the task. */
  readonly task: string;
}

/** Which limit an agent reached. */
export type ReachedLimit = 'turns' | 'tokens';

/** Answers the requests of one agent in one episode, and records them. */
export class CapturedEpisode {
  /** Answers requests of the agent. */
  readonly answerer: Answerer;
  /** Answers in the order in which they were complete. */
  readonly answers: CapturedAnswer[] = [];
  /** Why a conversation could not be extended. */
  readonly splits: string[] = [];
  /** What became of the requests. */
  readonly requests = new EpisodeRequests();
  /** What the agent asked for and did not get. */
  readonly unmet: string[] = [];
  /** Aborts when the agent asks for more turns than it has. */
  readonly spent = new AbortController();
  readonly #setting: EpisodeSetting;
  readonly #policy: CapturedPolicy;
  readonly #closed = new AbortController();
  readonly #teller: EpisodeTeller;
  #limit: ReachedLimit | undefined;

  constructor(setting: EpisodeSetting, place: EpisodePlace) {
    const path = [place.group, place.member];
    const { policy, chat, weights, admission, sampling, samplerTimeoutMs, contextLength, clock } = setting;
    this.#setting = setting;
    this.#teller = new EpisodeTeller(setting.events, clock, { episode: path.join('/'), task: place.task });
    const signal = this.#closed.signal;
    this.#policy = new CapturedPolicy({
      ...{ policy, sampling, clock, signal, path: [setting.seed, ...path] },
      ...{ renderer: chat ?? policy.renderer, contextLength },
    });
    const { temperature = 1, topK = 0, topP = 1, minP = 0, repetitionPenalty = 1 } = sampling;
    this.answerer = new Answerer({
      ...{ policy: this.#policy, weights, admission, timeoutMs: samplerTimeoutMs },
      seedOf: (index) => `${path.join('/')}/${index}`,
      sampling: { temperature, topK, topP, minP, repetitionPenalty },
      onUnmet: ({ param }) =>
        this.unmet.push(
          `an agent asked for ${param}, which no request gets here; its answers are sampled without it`,
        ),
      render: (conversation, renderer) => this.#render(conversation, renderer),
      observer: {
        asked: () => this.#admit(),
        answered: (asked, answer) => this.#record(asked, answer),
        failed: (_, error) => this.requests.failed(error, this.#policy.threw(error)),
        refused: (error) => this.requests.refused(error),
      },
    });
  }

  /** The limit that the agent reached, if any. */
  get limit(): ReachedLimit | undefined {
    return this.#limit;
  }

  /** Tells that the episode begins or, with its trajectory, that it ended. */
  tell(trajectory?: Trajectory): void {
    if (trajectory === undefined) this.#teller.started();
    else this.#teller.ended(trajectory);
  }

  /** Ends requests under way and refuses new ones. */
  close(): void {
    this.#closed.abort(new ApiError(410, 'this episode is over', { code: 'episode_over' }));
  }

  /** Resolves never. Rejects when the agent has spent its turns. */
  untilSpent(): Promise<never> {
    return new Promise((_, reject) => onAbort(this.spent.signal, () => reject(this.spent.signal.reason)));
  }

  #admit(): void {
    this.#closed.signal.throwIfAborted();
    const { maxTurns } = this.#setting;
    if (this.requests.begin() <= maxTurns) return;
    this.#limit = 'turns';
    const error = new ApiError(
      403,
      `expected at most ${plural(maxTurns, 'request')} in an episode (maxTurns)`,
      {
        code: 'turns_spent',
      },
    );
    this.spent.abort(error);
    throw error;
  }

  #render(conversation: Conversation, chat: ChatRenderer): readonly TokenId[] {
    const { tokenizer } = this.#policy;
    const isSampled = this.#setting.history === 'sampled';
    const last = answerBefore(conversation, this.answers);
    if (last !== undefined) this.#teller.answered(last, this.answers.indexOf(last), conversation.messages);
    const { tokens, split } =
      isSampled && last !== undefined
        ? continuedPrompt(conversation, last, { tokenizer, chat })
        : { tokens: renderByTemplate(conversation, chat), split: undefined };
    if (split !== undefined) this.splits.push(split);
    if (tokens.length >= this.#policy.contextLength) this.#limit = 'tokens';
    return tokens;
  }

  #record(asked: AskedRequest, { choices }: Answer): void {
    this.#closed.signal.throwIfAborted();
    const { promptTokens, messages, tools, prefix } = asked;
    const { completions = [], sampleMs } = this.#policy.drawn(promptTokens) ?? {};
    this.requests.answered();
    this.#limit = undefined;
    for (const [member, { text, calls }] of choices.entries()) {
      const completion = withCallMarks(completions[member]!, tools, this.#policy.tokenizer, prefix);
      const answer = { promptTokens, completion, messages, tools, text, calls, prefix, sampleMs };
      this.#teller.sampled(answer, this.answers.length);
      this.answers.push(answer);
    }
  }
}
