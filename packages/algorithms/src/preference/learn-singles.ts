import { defineLoss, type Loss, type Metrics, type TrainingSequence } from '@rlp/core';
import { type LearnBatch, type Learned, mean } from './learning.ts';
import type { SingleTerm } from './loss-options.ts';
import { scaled } from './pair-losses.ts';
import { singleLoss } from './preference-losses.ts';
import type { JudgedSequence, LabelledSequence } from './preferences.ts';
import { atFirstToken, type FactoredRow, meanEntropy, rowSums } from './row-scores.ts';

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
  const names = rows.map((row) => `example ${row}`);
  const reference = await references.of(backend, own, names, 1);
  const divergence = await divergenceOf(mismatched, { backend, references });
  const desirable = Float64Array.from(batch, ({ label }) => (label === 'desirable' ? 1 : 0));
  const sequences = own.map((row, index) =>
    sequenceOf(row, 1 / own.length, {
      reference: reference[index]!,
      desirable: desirable[index]!,
      divergence,
    }),
  );
  const loss = singlesLoss(terms, backend.tokensPerRow === undefined ? 'none' : 'needed');
  const pass = await backend.forwardBackward({ sequences }, loss);
  const logprobs = Float64Array.from(
    own,
    (row, index) => rowSums(row, { logprobs: pass.logprobs[index]! }).scored,
  );
  return {
    pass,
    metrics: {
      'loss/preference': pass.loss,
      ...singleMetrics(terms[0]!.beta, { logprobs, reference, desirable }),
      ...(needsDivergence && { 'kl/mismatched': divergence }),
      ...(pass.entropies && { 'entropy/mean': meanEntropy(own, pass.entropies) }),
    },
  };
}

/** The weighted sum of the terms, over the completions of single sequences. */
function singlesLoss(terms: readonly SingleTerm[], entropies: 'none' | 'needed'): Loss {
  return defineLoss({
    key: `singles ${JSON.stringify(terms)} ${entropies}`,
    columns: ['reference', 'desirable', 'divergence'],
    entropies,
    compute(ops, { logprobs, mask, columns }) {
      const inputs = {
        logprobs: ops.rowSum(ops.mul(logprobs, mask)),
        reference: ops.rowSum(columns.reference),
        desirable: ops.rowSum(columns.desirable),
        divergence: ops.rowSum(columns.divergence),
      };
      const losses = terms
        .map((term) => scaled(ops, term.weight, singleLoss(ops, inputs, term)))
        .reduce((total, loss) => ops.add(total, loss));
      return { tokenLosses: ops.mul(mask, losses) };
    },
  });
}

function sequenceOf(
  { tokens, mask }: FactoredRow,
  weight: number,
  given: Readonly<Record<'reference' | 'desirable' | 'divergence', number>>,
): TrainingSequence {
  const columns = Object.entries(given).map(([name, value]) => [name, atFirstToken(mask, value)] as const);
  return { tokens, mask, weights: atFirstToken(mask, weight), columns: Object.fromEntries(columns) };
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

/** Mean log-ratio of rows to the reference policy, at least 0. 0 without rows. It has no gradient, so rows are only scored. */
async function divergenceOf(
  rows: readonly FactoredRow[],
  { backend, references }: Pick<LearnBatch, 'backend' | 'references'>,
): Promise<number> {
  if (rows.length === 0) return 0;
  const names = rows.map(() => undefined);
  const reference = await references.of(backend, rows, names);
  const masks = rows.map(({ mask }) => mask);
  const scores = await backend.logprobs(
    rows.map(({ tokens }) => tokens),
    { masks },
  );
  return Math.max(
    0,
    mean(reference.map((logprob, index) => rowSums(rows[index]!, scores[index]!).scored - logprob)),
  );
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
