import { type Completion, RandomStream, type SampleRequest, type ToolCall } from '@rlp/core';
import type { ServedPolicy } from '../served-policy.ts';
import { AnswerText } from './answer-text.ts';
import type { AskedRequest } from './observer.ts';
import { samplePastEnds } from './past-ends.ts';
import type { Answer, AnswerChoice, AnswerPiece, AnswerToken } from './request.ts';
import { distributions, likeliest, type TokenLogprob } from './top-logprobs.ts';

/** How a request is sampled. */
export interface SamplingContext {
  readonly policy: ServedPolicy;
  readonly signal: AbortSignal;
  readonly topLogprobs: number;
  /** Whether the model's end tokens end an answer. */
  readonly ends: 'kept' | 'ignored';
  /** Maximum calls that an answer may hold. Later ones are left out. */
  readonly maxCalls: number;
  /** Takes the parts of the answers as they become certain. Default: nobody waits for them. */
  readonly onPiece?: ((piece: AnswerPiece) => void) | undefined;
}

/** Samples the answers to a request and takes them apart. */
export async function sampleAnswer(asked: AskedRequest, context: SamplingContext): Promise<Answer> {
  const { policy, signal, topLogprobs, ends, onPiece } = context;
  const { promptTokens: prompt, sampling, count, seed, model } = asked;
  const members = Array.from({ length: count }, (_, member) => new Member(asked, member, context));
  const request: SampleRequest = {
    ...sampling,
    ...{ prompt, count, seed, signal },
    // Likely tokens are computed when all is sampled, so nothing is certain before.
    ...(onPiece && topLogprobs === 0 && { onToken: (event) => members[event.member]?.push(event) }),
  };
  const completions = await (ends === 'ignored' ? samplePastEnds(policy, request) : policy.sample(request));
  const tops = topLogprobs > 0 ? await likelyTokens(asked, completions, context) : [];
  const choices = completions.map((completion, member) => members[member]!.finish(completion, tops[member]));
  const { policyVersion } = completions[0]!;
  return { promptTokens: prompt, choices, model, policyVersion };
}

async function likelyTokens(
  { promptTokens: prompt, sampling }: AskedRequest,
  completions: readonly Completion[],
  { policy, signal, topLogprobs: count }: SamplingContext,
): Promise<TokenLogprob[][][]> {
  const { temperature = 1 } = sampling;
  const all: TokenLogprob[][][] = [];
  for (const { tokens: completion } of completions) {
    const rows: TokenLogprob[][] = [];
    for await (const row of distributions(policy, { prompt, completion, temperature, signal })) {
      rows.push(likeliest(row, count));
    }
    all.push(rows);
  }
  return all;
}

/** One answer while it is sampled. */
class Member {
  readonly #asked: AskedRequest;
  readonly #member: number;
  readonly #context: SamplingContext;
  readonly #text: AnswerText;
  /** Number of tokens that were given away with pieces, and all so far. */
  #given = 0;
  readonly #tokens: AnswerToken[] = [];

  constructor(asked: AskedRequest, member: number, context: SamplingContext) {
    this.#asked = asked;
    this.#member = member;
    this.#context = context;
    const { stopStrings = [], stopTokens = [] } = asked.sampling;
    const { promptTokens, tools, prefix } = asked;
    const { tokenizer } = context.policy;
    this.#text = new AnswerText({ tokenizer, promptTokens, stopStrings, stopTokens, tools, prefix });
  }

  push({ token, logprob }: AnswerToken): void {
    this.#tokens.push({ token, logprob });
    this.#show(this.#text.push(token), this.#tokens);
  }

  finish(completion: Completion, tops: readonly TokenLogprob[][] | undefined): AnswerChoice {
    const { text, rest, calls } = this.#text.finish(completion);
    const tokens = completion.tokens.map((token, t): AnswerToken => {
      const top = tops?.[t];
      return { token, logprob: completion.behaviorLogprobs[t]!, ...(top && { top }) };
    });
    this.#show(rest, tokens);
    const named = this.#named(calls.slice(0, this.#context.maxCalls));
    const finish = named.length > 0 && completion.stopReason !== 'length' ? 'tool_calls' : undefined;
    const stopString = stopStringOf(completion, this.#asked, this.#context.policy);
    const choice: AnswerChoice = {
      ...{
        text,
        calls: named,
        tokens,
        finish: finish ?? (completion.stopReason === 'length' ? 'length' : 'stop'),
      },
      ...(stopString !== undefined && { stopString }),
    };
    const last = tokens.slice(this.#given);
    this.#context.onPiece?.({ type: 'end', member: this.#member, choice, tokens: last });
    return choice;
  }

  #show(text: string, tokens: readonly AnswerToken[]): void {
    if (text === '') return;
    const fresh = tokens.slice(this.#given);
    this.#given = tokens.length;
    this.#context.onPiece?.({ type: 'text', member: this.#member, text, tokens: fresh });
  }

  /** Calls with ids that no other call of the conversation has. Mistral's template wants nine letters and digits. */
  #named(calls: readonly ToolCall[]): readonly ToolCall[] {
    const { seed, index } = this.#asked;
    return calls.map((call, place) => {
      if (!/^call_\d+$/.test(call.id)) return call;
      const random = RandomStream.named('call', seed, index, this.#member, place);
      return {
        ...call,
        id: `c${random
          .integer(36 ** 5)
          .toString(36)
          .padStart(8, '0')}`,
      };
    });
  }
}

/** The stop string that ended a completion. Its text is cut before it. */
function stopStringOf(
  { tokens, text, stopReason }: Completion,
  { sampling, promptTokens }: AskedRequest,
  { tokenizer }: ServedPolicy,
): string | undefined {
  const stops = sampling.stopStrings ?? [];
  if (stopReason !== 'stop' || stops.length === 0) return undefined;
  const before = tokenizer.decode(promptTokens.slice(-16));
  const whole = tokenizer.decode([...promptTokens.slice(-16), ...tokens]).slice(before.length);
  return stops.find((stop) => whole.startsWith(stop, text.length));
}
