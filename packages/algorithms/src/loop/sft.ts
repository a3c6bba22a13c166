import {
  type Metrics,
  type MetricsLogger,
  parseOptions,
  RandomStream,
  type Tokenizer,
  type TokenSequence,
  type TrainingBackend,
  type TrainingSequence,
} from '@rlp/core';
import * as z from 'zod';
import { aggregationWeights } from '../aggregation.ts';
import { crossEntropy } from '../loss/cross-entropy.ts';
import { Attendant } from './attendant.ts';
import { having, signalSchema } from './having.ts';
import { withinLength } from './max-length.ts';
import type { ResumeOptions } from './rl.ts';
import { type ResolvedSftOptions, resolveSftOptions, type SftOptions } from './sft-options.ts';
import { checkBeforeSft } from './sft-preflight.ts';

/** What `runSftTraining` works with. */
export interface SftDependencies {
  /** Trains the policy. */
  readonly backend: TrainingBackend;
  /** What to imitate, for instance from `demonstrationSequences`. */
  readonly sequences: readonly TokenSequence[];
  /** Made the sequences. With it, the run reports characters that it lost. */
  readonly tokenizer?: Tokenizer | undefined;
  /** Gets every update's metrics and notes, before its report is yielded. */
  readonly logger?: MetricsLogger | undefined;
  /** Milliseconds from any origin. Without it, times are not reported. */
  readonly clock?: (() => number) | undefined;
  /** Ends the run after the update under way. A call of the backend that hangs is abandoned with a `TrainingError`. */
  readonly signal?: AbortSignal | undefined;
}

const isFunction = (value: unknown) => typeof value === 'function';

const dependencySchema = z.strictObject({
  backend: having<TrainingBackend>('forwardBackward', 'a training backend'),
  sequences: z.custom<readonly TokenSequence[]>(Array.isArray, 'must be a list of sequences'),
  tokenizer: having<Tokenizer>('encode', 'a tokenizer').optional(),
  logger: having<MetricsLogger>('log', 'a logger').optional(),
  clock: z.custom<() => number>(isFunction, 'must be a function').optional(),
  signal: signalSchema.optional(),
} satisfies Record<keyof SftDependencies, z.ZodType>);

/** Schema of {@link SftState}. */
export const sftStateSchema = z.strictObject({ iteration: z.int().nonnegative() });

/** Where an SFT run stands: with the backend's checkpoint, all that is needed to continue it. */
export interface SftState {
  /** Updates made. */
  readonly iteration: number;
}

/** One update. */
export interface SftReport {
  /** Counts from 0. */
  readonly iteration: number;
  /** Passes over the examples when it was over, such as 1.25. */
  readonly epoch: number;
  /** See `docs/metrics.md`. */
  readonly metrics: Metrics;
  readonly state: SftState;
}

/**
 * Supervised fine-tuning by cross-entropy on the tokens whose mask is 1. One report per update.
 *
 * Examples are shuffled in each epoch by a stream named by seed and epoch, then batched in that order. A resumed run sees
 * exactly the batches that the interrupted run would have seen. Publishes nothing.
 *
 * Looks at lengths, tokens, masks and memory before the first update.
 *
 * @throws OptionsError for options outside their ranges and for dependencies that are missing or not known.
 * @throws ArgumentError if there is nothing to imitate, or if sequences do not fit the model.
 * @throws TrainingError if the largest update takes more memory than the machine has.
 */
export async function* runSftTraining(
  dependencies: SftDependencies,
  options: SftOptions & ResumeOptions<SftState> = {},
): AsyncGenerator<SftReport, void, undefined> {
  parseOptions('runSftTraining', dependencySchema, dependencies, 'SftDependencies');
  const { backend: given, sequences: all, logger, clock, signal } = dependencies;
  const { resume, ...own } = options;
  const resolved = resolveSftOptions(own);
  const made = resume?.iteration ?? 0;
  let iteration = -1;
  const say = (text: string) => logger?.note?.(Math.max(iteration, made), text);
  const { sequences, note } = withinLength(all, resolved.maxLength, given.contextLength);
  if (note !== undefined) say(note);
  checkBeforeSft({ ...dependencies, sequences, note, sequencesPerBatch: resolved.sequencesPerBatch, say });
  const attendant = new Attendant({ deadlines: resolved.deadlines, signal, say });
  const backend = attendant.attended(given, 'backend');
  for (const { rows, epoch } of batches(sequences, resolved)) {
    iteration += 1;
    if (iteration < made) continue;
    if (signal?.aborted) return;
    const start = clock?.();
    const pass = await backend.forwardBackward(
      { sequences: toBatch(sequences, rows, resolved) },
      crossEntropy,
    );
    const { gradientNorm, learningRate } = await backend.optimStep();
    const metrics = {
      'loss/sft': pass.loss,
      'gradient/norm': gradientNorm,
      'learning-rate': learningRate,
      'tokens/trained': pass.tokens.trained,
      'tokens/computed': pass.tokens.total,
      ...(clock && { 'time/learn': clock() - start! }),
    };
    logger?.log(iteration, metrics);
    yield { iteration, epoch, state: { iteration: iteration + 1 }, metrics };
  }
}

/** The batches of a run: rows of `sequences`, and how many epochs are over after them. */
function* batches(
  sequences: readonly TokenSequence[],
  options: ResolvedSftOptions,
): Generator<{ rows: readonly number[]; epoch: number }> {
  const { seed, updates = Number.POSITIVE_INFINITY, sequencesPerBatch, tokensPerBatch } = options;
  const limit = options.epochs ?? (options.updates === undefined ? 1 : Number.POSITIVE_INFINITY);
  let made = 0;
  for (let epoch = 0; epoch < limit; epoch++) {
    const order = RandomStream.named(seed, 'epoch', epoch).shuffle([...sequences.keys()]);
    for (let start = 0; start < order.length; ) {
      if (made >= updates || epoch + start / order.length >= limit) return;
      const end = batchEnd(sequences, order, start, { sequencesPerBatch, tokensPerBatch });
      yield { rows: order.slice(start, end), epoch: epoch + end / order.length };
      start = end;
      made += 1;
    }
  }
}

/** Where the batch that begins at `start` ends. It always holds one sequence. */
function batchEnd(
  sequences: readonly TokenSequence[],
  order: readonly number[],
  start: number,
  limits: Pick<ResolvedSftOptions, 'sequencesPerBatch' | 'tokensPerBatch'>,
): number {
  const { sequencesPerBatch, tokensPerBatch = Number.POSITIVE_INFINITY } = limits;
  let tokens = sequences[order[start]!]!.tokens.length;
  let end = start + 1;
  while (end < order.length && end - start < sequencesPerBatch) {
    tokens += sequences[order[end]!]!.tokens.length;
    if (tokens > tokensPerBatch) break;
    end += 1;
  }
  return end;
}

function toBatch(
  sequences: readonly TokenSequence[],
  rows: readonly number[],
  { aggregation }: ResolvedSftOptions,
): TrainingSequence[] {
  const chosen = rows.map((row) => sequences[row]!);
  const weights = aggregationWeights(
    chosen.map(({ mask }) => mask),
    { mode: aggregation },
  );
  return chosen.map(({ tokens, mask }, index) => ({ tokens, mask, weights: weights[index]!, columns: {} }));
}
