import { ArgumentError } from './errors.ts';
import { requireArguments, requireFields } from './options/require-arguments.ts';
import type { TokenId } from './trajectory.ts';

/** One turn as tokens, with what the policy saw and what it answered. A `Step` is one. */
export interface SequenceStep {
  /** Shape: `[P]`. */
  readonly promptTokens: readonly TokenId[];
  /** Shape: `[T]`. */
  readonly tokens: readonly TokenId[];
  /** Shape: `[T]`. Absent where nobody sampled, as in demonstrations. */
  readonly behaviorLogprobs?: readonly number[] | undefined;
  /**
   * With `'context'` later turns see its answer, but it is not trained (mask 0). Used when a judge found the turn invalid.
   * Default `'train'`.
   */
  readonly use?: 'train' | 'context' | undefined;
}

/** Tokens to train on, and which of them the policy chose. */
export interface TokenSequence {
  readonly tokens: readonly TokenId[];
  /** 1 where the policy chose the token, in a turn to train on. Shape: `[T]`. */
  readonly mask: Uint8Array;
  /** 0 where the policy did not choose the token. Shape: `[T]`. */
  readonly behaviorLogprobs: Float64Array;
  /** Index of the turn that chose the token, −1 where the policy did not. Shape: `[T]`. */
  readonly steps: Int32Array;
}

interface Chosen {
  readonly at: number;
  readonly step: number;
  readonly logprob: number;
  readonly counts: 0 | 1;
}

interface Draft {
  readonly tokens: TokenId[];
  readonly chosen: Chosen[];
}

/**
 * Turns into training sequences. Tokens are the source of truth. Nothing is tokenised here.
 *
 * A turn whose prompt begins with exactly the tokens before it (last prompt and answer) continues their sequence, and what
 * the environment added in between gets mask 0. Any other turn begins a new sequence. So an episode that only ever extends
 * its conversation is one sequence, and one whose template rewrites history is several, each exactly as sampled.
 *
 * The first token of a sequence has no logprob, so a token sampled from an empty prompt is not trained.
 *
 * @throws ArgumentError when a turn's logprobs and tokens differ in number.
 */
export function tokenSequences(turns: readonly SequenceStep[]): TokenSequence[] {
  requireArguments('tokenSequences', { turns: 'objects' }, turns);
  for (const turn of turns) requireFields('tokenSequences', { promptTokens: 'list', tokens: 'list' }, turn);
  const drafts: Draft[] = [];
  for (const [step, { promptTokens, tokens, behaviorLogprobs, use }] of turns.entries()) {
    if (behaviorLogprobs !== undefined && behaviorLogprobs.length !== tokens.length) {
      throw new ArgumentError(
        `tokenSequences: step ${step} must hold one logprob per token, ` +
          `got ${behaviorLogprobs.length} for ${tokens.length} tokens`,
      );
    }
    let draft = drafts.at(-1);
    if (draft === undefined || !extendsTokens(promptTokens, draft.tokens)) {
      draft = { tokens: [], chosen: [] };
      drafts.push(draft);
    }
    for (let at = draft.tokens.length; at < promptTokens.length; at++) draft.tokens.push(promptTokens[at]!);
    const counts = use === 'context' ? 0 : 1;
    for (const [t, token] of tokens.entries()) {
      const at = draft.tokens.length;
      if (at > 0) draft.chosen.push({ at, step, logprob: behaviorLogprobs?.[t] ?? 0, counts });
      draft.tokens.push(token);
    }
  }
  return drafts.map(finish);
}

function finish({ tokens, chosen }: Draft): TokenSequence {
  const mask = new Uint8Array(tokens.length);
  const behaviorLogprobs = new Float64Array(tokens.length);
  const steps = new Int32Array(tokens.length).fill(-1);
  for (const { at, step, logprob, counts } of chosen) {
    mask[at] = counts;
    behaviorLogprobs[at] = logprob;
    steps[at] = step;
  }
  return { tokens, mask, behaviorLogprobs, steps };
}

function extendsTokens(tokens: readonly TokenId[], prefix: readonly TokenId[]): boolean {
  return prefix.every((token, index) => tokens[index] === token);
}
