import { ArgumentError, requireArguments, requireFields } from '@rlp/core';

/**
 * An advantage spread over tokens by their entropy: where the policy hesitated, it decides more.
 *
 *     A_t = A · max(0, 1 + β (H_t / (mean H + 1e-8) − 1))
 *
 * With a mean entropy below 1e-7, or with β = 0, every token gets `A`. Shape `[T]`.
 *
 * @throws ArgumentError for numbers that are not finite.
 * @see Tan et al. 2025 (GTPO), https://arxiv.org/abs/2508.04349
 */
export function entropyWeightedAdvantages(
  advantage: number,
  entropies: ArrayLike<number>,
  options: { /** β ≥ 0. */ readonly strength: number },
): Float64Array {
  requireArguments(
    'entropyWeightedAdvantages',
    { advantage: 'number', entropies: 'numbers' },
    advantage,
    entropies,
  );
  requireFields('entropyWeightedAdvantages', { strength: 'number' }, options);
  const { strength } = options;
  if (!Number.isFinite(advantage) || !Number.isFinite(strength)) {
    throw new ArgumentError(
      `entropyWeightedAdvantages: advantage and strength must be finite, got ${advantage} and ${strength}`,
    );
  }
  const mean = meanWhere('entropyWeightedAdvantages', entropies, () => true);
  if (mean < 1e-7) return new Float64Array(entropies.length).fill(advantage);
  return Float64Array.from(
    entropies,
    (entropy) => advantage * Math.max(0, 1 + strength * (entropy / (mean + 1e-8) - 1)),
  );
}

/**
 * Advantages of planning tokens amplified, whatever their sign, `A_t + α·|A_t|` where `planning` is 1. Shape `[T]`.
 *
 * @throws ArgumentError for lists of different lengths or an amplification that is not finite.
 * @see Wang et al. 2025 (HICRA), https://arxiv.org/abs/2509.03646
 */
export function planningAmplifiedAdvantages(
  advantages: ArrayLike<number>,
  planning: ArrayLike<number>,
  options: { /** α ≥ 0. */ readonly amplification: number },
): Float64Array {
  requireArguments(
    'planningAmplifiedAdvantages',
    { advantages: 'numbers', planning: 'numbers' },
    advantages,
    planning,
  );
  requireFields('planningAmplifiedAdvantages', { amplification: 'number' }, options);
  const { amplification } = options;
  requireSameLength('planningAmplifiedAdvantages', advantages, planning);
  if (!Number.isFinite(amplification)) {
    throw new ArgumentError(
      `planningAmplifiedAdvantages: amplification must be finite, got ${amplification}`,
    );
  }
  return Float64Array.from(advantages, (advantage, t) =>
    planning[t] === 0 ? advantage : advantage + amplification * Math.abs(advantage),
  );
}

/**
 * Entropies of the tokens that do not plan, drawn towards their mean, `λ·mean + (1 − λ)·H_t` where `planning` is 0.
 * λ is limited to [0, 1]. Shape `[T]`.
 *
 * @throws ArgumentError for lists of different lengths or entropies that are not finite.
 * @see textpolicy, `apply_sepa_pooling`, https://github.com/teilomillet/textpolicy
 */
export function pooledEntropies(
  entropies: ArrayLike<number>,
  planning: ArrayLike<number>,
  options: { /** λ. */ readonly share: number },
): Float64Array {
  requireArguments('pooledEntropies', { entropies: 'numbers', planning: 'numbers' }, entropies, planning);
  requireFields('pooledEntropies', { share: 'number' }, options);
  const { share } = options;
  requireSameLength('pooledEntropies', entropies, planning);
  const mean = meanWhere('pooledEntropies', entropies, (t) => planning[t] === 0);
  const lambda = Math.min(1, Math.max(0, share));
  return Float64Array.from(entropies, (entropy, t) =>
    planning[t] === 0 ? lambda * mean + (1 - lambda) * entropy : entropy,
  );
}

/**
 * 1 for tokens that take part in a planning phrase such as "let me check", else 0. Shape `[T]`.
 *
 * A window grows from every token until its text contains a phrase between word boundaries. Its tokens are then marked. The
 * window ends at `window` tokens or the words of the longest phrase. `▁` and `Ġ` count as spaces. Pieces are joined with a
 * space, so a word in several pieces is not recognised. Case does not matter.
 *
 * @see Wang et al. 2025 (HICRA), §3, https://arxiv.org/abs/2509.03646
 */
export function planningTokens(
  tokens: readonly string[],
  phrases: readonly string[],
  options: { /** Longest match in tokens. */ readonly window?: number } = {},
): Uint8Array {
  requireArguments('planningTokens', { tokens: 'texts', phrases: 'texts' }, tokens, phrases);
  requireFields('planningTokens', { window: 'number?' }, options);
  const { window = 5 } = options;
  const mask = new Uint8Array(tokens.length);
  const longest = Math.max(window, ...phrases.map((phrase) => phrase.trim().split(/\s+/u).length));
  const pieces = tokens.map((token) => token.replaceAll(/[▁Ġ]/gu, ' ').trim());
  const patterns = phrases.map(
    (phrase) => new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(phrase)}(?![\\p{L}\\p{N}_])`, 'iu'),
  );
  for (let start = 0; start < tokens.length; start++) {
    let text = '';
    for (let end = start; end < Math.min(start + longest, tokens.length); end++) {
      text = [text, pieces[end]!].filter(Boolean).join(' ');
      if (!patterns.some((pattern) => pattern.test(text))) continue;
      mask.fill(1, start, end + 1);
      break;
    }
  }
  return mask;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** Mean of the values whose index is wanted, and 0 of none. */
function meanWhere(owner: string, values: ArrayLike<number>, isWanted: (t: number) => boolean): number {
  let sum = 0;
  let count = 0;
  for (let t = 0; t < values.length; t++) {
    if (!Number.isFinite(values[t])) {
      throw new ArgumentError(`${owner}: entropies[${t}] must be a finite number, got ${String(values[t])}`);
    }
    if (!isWanted(t)) continue;
    sum += values[t]!;
    count++;
  }
  return count === 0 ? 0 : sum / count;
}

function requireSameLength(owner: string, values: ArrayLike<number>, planning: ArrayLike<number>): void {
  if (planning.length === values.length) return;
  throw new ArgumentError(
    `${owner}: planning must have ${values.length} entries, one per token, got ${planning.length}`,
  );
}
