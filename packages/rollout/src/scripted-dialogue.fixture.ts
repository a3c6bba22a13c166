/** For tests: a dialogue with a scripted policy. */
import {
  type ChatRenderer,
  type Completion,
  type Environment,
  type Message,
  type State,
  type Tokenizer,
  type Trajectory,
  tokenSequences,
} from '@rlp/core';

import { RolloutManager, type RolloutOptions } from './index.ts';

/** What the policy says in a turn, and how the turn ends. */
export interface Said {
  readonly text: string;
  /** End token or stop string sampled after the text. By default the response is cut by its length. */
  readonly ending?: string;
}

/** A dialogue to play. */
export interface Play {
  readonly chat: ChatRenderer;
  readonly tokenizer: Tokenizer;
  readonly said: readonly Said[];
  /** The message of the policy and those that answer it. */
  readonly answer?: (text: string, turn: number) => readonly Message[];
  readonly options?: RolloutOptions;
  /** What the environment shows of the conversation. By default all of it. */
  readonly show?: (messages: readonly Message[], turn: number) => readonly Message[];
}

/** The policy's message, and a user who wants more. */
export const userAnswers = (text: string, turn: number): Message[] => [
  { role: 'assistant', content: text },
  { role: 'user', content: `more ${turn}` },
];

/** Plays a scripted dialogue. */
export async function play({
  chat,
  tokenizer,
  said,
  answer = userAnswers,
  options,
  show = (messages) => messages,
}: Play) {
  const environment: Environment = {
    reset: () => ({ prompt: [{ role: 'user', content: 'question' }], response: '', stepCount: 0 }),
    buildPrompt: ({ prompt, stepCount }) => show(prompt as Message[], stepCount),
    updateState: ({ prompt, stepCount }: State, response) => ({
      prompt: [...(prompt as Message[]), ...answer(response, stepCount)],
      response,
      stepCount: stepCount + 1,
    }),
    isTerminal: ({ stepCount }) => stepCount >= said.length,
  };
  let turn = 0;
  const sampler = {
    policyVersion: 0,
    sample: async (): Promise<Completion[]> => {
      const { text, ending = '' } = said[turn++]!;
      const tokens = tokenizer.encode(text + ending, { specialTokens: 'none' });
      const behaviorLogprobs = tokens.map(() => -0.5);
      return [
        { tokens, behaviorLogprobs, text, stopReason: ending === '' ? 'length' : 'stop', policyVersion: 0 },
      ];
    },
  };
  const manager = new RolloutManager(
    { environment, sampler, tokenizer, chat },
    { groupSize: 1, maxTurns: said.length, ...options },
  );
  const trajectories: Trajectory[] = [];
  for await (const group of manager.collectGroups([{ id: 'a', prompt: '', metadata: undefined }])) {
    trajectories.push(...group.trajectories);
  }
  const [trajectory] = trajectories;
  if (trajectory?.failure) throw new Error(trajectory.failure.message);
  const rows = tokenSequences(trajectory!.steps);
  return {
    ...manager.getStatistics(),
    notes: manager.takeNotes(),
    notesLater: manager.takeNotes(),
    steps: trajectory!.steps,
    rows,
  };
}
