import type { Metrics } from '@rlp/core';
import { crossEntropy } from '../loss/cross-entropy.ts';
import { differentiateSingles } from './differentiate.ts';
import type { LearnBatch, Learned } from './learning.ts';
import type { SingleTerm } from './loss-options.ts';
import type { JudgedSequence, LabelledSequence } from './preferences.ts';
import { type FactoredRow, meanEntropy, rowSums, weightedRow } from './row-scores.ts';

interface SingleOptions {
  readonly terms: readonly SingleTerm[];
  /** Longest sequence. Default: the model's context, or the longest sequence of the batch if that is not known. */
  readonly maxLength?: { readonly tokens: number } | undefined;
}

/** Accumulates the gradient of a batch of single sequences. */
export async function learnSingles(
  { backend, references, rows }: LearnBatch,
  examples: readonly LabelledSequence[],
  { terms, maxLength }: SingleOptions,
): Promise<Learned> {
  const batch = rows.map((row) => examples[row]!);
  const own = batch.map(({ sequence }) => plainRow(sequence));
  const needsDivergence = terms.some(({ kind }) => kind === 'kto');
  const longest = own.reduce((most, { tokens }) => Math.max(most, tokens.length), 0);
  const limit = Math.min(backend.contextLength ?? longest, maxLength?.tokens ?? Number.POSITIVE_INFINITY);
  const mismatched = needsDivergence ? mismatchedRows(own, limit) : [];
  const all = [...own, ...mismatched];
  const masks = all.map(({ mask }) => mask);
  const scores = await backend.logprobs(
    all.map(({ tokens }) => tokens),
    { masks },
  );
  const names = all.map((_, index) => (index < own.length ? `example ${rows[index]}` : undefined));
  const reference = await references.of(backend, all, names);
  const logprobs = Float64Array.from(all, (row, index) => rowSums(row, scores[index]!).scored);
  const divergence = divergenceOf(logprobs.subarray(own.length), reference.subarray(own.length));
  const desirable = Float64Array.from(batch, ({ label }) => (label === 'desirable' ? 1 : 0));
  const columns = {
    logprobs: logprobs.slice(0, own.length),
    reference: reference.slice(0, own.length),
    desirable,
  };
  const { value, gradients } = differentiateSingles(terms, columns, divergence);
  const sequences = own.map((row, index) =>
    weightedRow(row, { scored: gradients.logprobs[index]!, completion: 0, sequence: 0 }),
  );
  const pass = await backend.forwardBackward({ sequences }, crossEntropy);
  return {
    pass,
    metrics: {
      'loss/preference': value,
      ...singleMetrics(terms[0]!.beta, columns),
      ...(needsDivergence && { 'kl/mismatched': divergence }),
      'entropy/mean': meanEntropy(own, scores),
    },
  };
}

function plainRow({ tokens, mask }: JudgedSequence): FactoredRow {
  return { tokens, mask, full: tokens.length, discount: 1 };
}

/**
 * Each prompt with the completion of the row before it, for KTO's estimate of the KL. None for a single row.
 *
 * Rows are cut at `limit` tokens.
 */
function mismatchedRows(rows: readonly FactoredRow[], limit: number): FactoredRow[] {
  if (rows.length < 2) return [];
  return rows.map((row, index) => {
    const other = rows.at(index - 1)!;
    const [end, start] = [row.mask.indexOf(1), other.mask.indexOf(1)];
    const tokens = [...row.tokens.slice(0, end), ...other.tokens.slice(start)].slice(0, limit);
    const mask = Uint8Array.from(tokens, (_, t) => (t < end ? 0 : other.mask[start + t - end]!));
    return plainRow({ tokens, mask });
  });
}

/** Mean difference of the log-probabilities, at least 0. 0 without rows. */
function divergenceOf(logprobs: Float64Array, reference: Float64Array): number {
  const sum = logprobs.reduce((total, logprob, index) => total + logprob - reference[index]!, 0);
  return logprobs.length === 0 ? 0 : Math.max(0, sum / logprobs.length);
}

/** Means over the desirable and over the undesirable sequences. Absent without any. */
function singleMetrics(
  beta: number,
  { logprobs, reference, desirable }: Readonly<Record<'logprobs' | 'reference' | 'desirable', Float64Array>>,
): Metrics {
  const meanOf = (label: 0 | 1, of: (row: number) => number) => {
    const rows = [...desirable.keys()].filter((row) => desirable[row] === label);
    return rows.length === 0 ? undefined : rows.reduce((sum, row) => sum + of(row), 0) / rows.length;
  };
  const reward = (row: number) => beta * (logprobs[row]! - reference[row]!);
  const logprob = (row: number) => logprobs[row]!;
  const [chosen, rejected] = [meanOf(1, reward), meanOf(0, reward)];
  return {
    ...(chosen !== undefined && { 'reward/chosen': chosen, 'logprobs/chosen': meanOf(1, logprob)! }),
    ...(rejected !== undefined && { 'reward/rejected': rejected, 'logprobs/rejected': meanOf(0, logprob)! }),
    ...(chosen !== undefined && rejected !== undefined && { 'reward/margin': chosen - rejected }),
  };
}
