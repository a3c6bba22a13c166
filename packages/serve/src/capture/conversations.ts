import type { Message, Step, TokenId, Tokenizer } from '@rlp/core';
import { answerMessage, type CapturedAnswer } from './captured-answer.ts';

/** What an episode's answers amount to. */
export interface Conversations {
  /** Side conversations first, the main one last. Those of one conversation stand together. */
  readonly steps: readonly Step[];
  /** The main conversation. */
  readonly messages: readonly Message[];
  /** How many conversations there are. */
  readonly count: number;
}

/**
 * Puts the answers of an episode in the order of their conversations.
 *
 * An answer goes on from another if its prompt begins with exactly that one's prompt and answer. Where several go on from one, the
 * first continues the conversation and the others branch off. The main conversation is the one that was answered last.
 */
export function conversationsOf(answers: readonly CapturedAnswer[], tokenizer: Tokenizer): Conversations {
  const parents = parentsOf(answers);
  const main = pathTo(answers.length - 1, parents);
  const nextOf = continuationsOf(parents, main);
  const continued = new Set(nextOf.values());
  const starts = answers.map((_, index) => index).filter((index) => !continued.has(index));
  const side = starts.filter((index) => index !== main[0]);
  const chains = side.map((start) => chainFrom(start, nextOf));
  const steps = chains.flatMap((chain, place) =>
    stepsOf(chain, answers, parents).map((step): Step => ({ ...step, branch: place + 1 })),
  );
  const last = answers.at(-1);
  return {
    steps: [...steps, ...stepsOf(main, answers, parents)],
    messages: last === undefined ? [] : [...shownMessages(last, tokenizer), answerMessage(last)],
    count: starts.length,
  };
}

/** Index of the answer that each one goes on from, −1 for none. */
function parentsOf(answers: readonly CapturedAnswer[]): readonly number[] {
  const contexts = answers.map(({ promptTokens, completion }) => [...promptTokens, ...completion.tokens]);
  const isTaken = new Set<number>();
  return answers.map(({ promptTokens }, index) => {
    let best = -1;
    for (let earlier = 0; earlier < index; earlier++) {
      const context = contexts[earlier]!;
      if (!beginsWith(promptTokens, context)) continue;
      const longer = best < 0 ? 1 : context.length - contexts[best]!.length;
      // Equal answers to equal prompts: each goes on with one.
      if (longer > 0 || (longer === 0 && !isTaken.has(earlier))) best = earlier;
    }
    if (best >= 0) isTaken.add(best);
    return best;
  });
}

function pathTo(last: number, parents: readonly number[]): readonly number[] {
  const path: number[] = [];
  for (let index = last; index >= 0; index = parents[index]!) path.unshift(index);
  return path;
}

/** Which answer continues the conversation of which. */
function continuationsOf(parents: readonly number[], main: readonly number[]): ReadonlyMap<number, number> {
  const next = new Map<number, number>();
  for (const [place, index] of main.slice(1).entries()) next.set(main[place]!, index);
  for (const [index, parent] of parents.entries()) {
    if (parent >= 0 && !next.has(parent)) next.set(parent, index);
  }
  return next;
}

function chainFrom(start: number, nextOf: ReadonlyMap<number, number>): readonly number[] {
  const chain: number[] = [];
  for (let index: number | undefined = start; index !== undefined; index = nextOf.get(index)) {
    chain.push(index);
  }
  return chain;
}

function stepsOf(
  chain: readonly number[],
  answers: readonly CapturedAnswer[],
  parents: readonly number[],
): Step[] {
  return chain.map((index) => stepOf(answers[index]!, answers[parents[index]!]));
}

/** An answer as a step, which goes on from another. */
export function stepOf(answer: CapturedAnswer, last: CapturedAnswer | undefined): Step {
  const { promptTokens, completion, messages, calls, sampleMs } = answer;
  const { tokens, behaviorLogprobs, text, stopReason, policyVersion } = completion;
  const observation = last?.messages === undefined ? messages : messages && messagesSince(last, messages);
  return {
    ...{ promptTokens, tokens, behaviorLogprobs, text, stopReason, policyVersion },
    ...(observation !== undefined && { observation }),
    ...(calls.length > 0 && { toolCalls: calls }),
    ...(sampleMs !== undefined && { timing: { sampleMs } }),
  };
}

/** What stands between an answer and the end of a later request. */
export function messagesSince(
  { messages: before = [] }: CapturedAnswer,
  messages: readonly Message[],
): readonly Message[] {
  return messages.slice(before.length + 1);
}

/** The conversation of a request. Text counts as what a user says. */
function shownMessages({ messages, promptTokens }: CapturedAnswer, tokenizer: Tokenizer): readonly Message[] {
  return messages ?? [{ role: 'user', content: tokenizer.decode(promptTokens) }];
}

function beginsWith(tokens: readonly TokenId[], prefix: readonly TokenId[]): boolean {
  return tokens.length >= prefix.length && prefix.every((token, index) => tokens[index] === token);
}
