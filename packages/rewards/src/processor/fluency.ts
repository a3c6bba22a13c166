import { messageOf } from '@rlp/core';
import { perplexityReward } from './components.ts';
import type { EpisodeFailure } from './episode-rewards.ts';
import type { FluencyRequest, FluencyScorer } from './fluency-scorer.ts';

interface FluencyOptions {
  readonly batchSize: number;
  readonly signal: AbortSignal;
}

/**
 * Fills in the fluency of the given rows, `batchSize` of them to a request. Where a request fails, its responses are asked
 * about one by one, so that one of them cannot spoil the others; NaN for those that fail again. Rejects only once aborted.
 */
export async function fillFluency(
  scorer: FluencyScorer,
  rows: readonly { readonly row: number; readonly request: FluencyRequest }[],
  column: Float64Array,
  { batchSize, signal }: FluencyOptions,
): Promise<EpisodeFailure[]> {
  const failures: EpisodeFailure[] = [];
  const ask = async (part: typeof rows): Promise<void> => {
    try {
      const answers = await scorer.perplexities(
        part.map(({ request }) => request),
        { signal },
      );
      if (answers.length !== part.length) {
        throw new RangeError(`expected ${part.length} perplexities, got ${answers.length}`);
      }
      for (const [k, { row }] of part.entries()) {
        column[row] = rewardOf(answers[k]!);
        if (answers[k] !== null && Number.isNaN(column[row]!)) failures.push(notFinite(row, answers[k]));
      }
    } catch (error) {
      signal.throwIfAborted();
      if (part.length > 1) for (const one of part) await ask([one]);
      else failures.push(broken(part[0]!.row, error, column));
    }
  };
  for (let start = 0; start < rows.length; start += batchSize) {
    signal.throwIfAborted();
    await ask(rows.slice(start, start + batchSize));
  }
  return failures;
}

function rewardOf(perplexity: number | null): number {
  return perplexity === null || !Number.isFinite(perplexity) ? Number.NaN : perplexityReward(perplexity);
}

function notFinite(index: number, value: unknown): EpisodeFailure {
  const message = `fluency: expected a finite perplexity or null, got ${String(value)}`;
  return { index, source: 'fluency', cause: 'not-finite', message };
}

function broken(index: number, error: unknown, column: Float64Array): EpisodeFailure {
  column[index] = Number.NaN;
  const message = `fluency: ${messageOf(error)}`;
  return { index, source: 'fluency', cause: 'threw', message };
}
