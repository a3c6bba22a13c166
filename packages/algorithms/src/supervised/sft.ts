import {
  isRecord,
  needed,
  parseOptions,
  requireArguments,
  type Tokenizer,
  type TokenSequence,
  type TrainingSequence,
} from '@rlp/core';
import * as z from 'zod';
import { aggregationWeights } from '../loss/aggregation.ts';
import { sftLosses } from '../loss/cross-entropy.ts';
import { guardedLogger } from '../training/guarded-logger.ts';
import type { ResumeOptions } from '../training/resume-options.ts';
import { withinLength } from './max-length.ts';
import {
  runUpdates,
  type UpdateDependencies,
  type UpdateReport,
  type UpdateState,
  updateDependencyShape,
} from './run-updates.ts';
import { type ResolvedSftOptions, resolveSftOptions, type SftOptions } from './sft-options.ts';
import { checkBeforeSft } from './sft-preflight.ts';

/** What `runSftTraining` works with. */
export interface SftDependencies extends UpdateDependencies {
  /** What to imitate, for instance from `demonstrationSequences`. */
  readonly sequences: readonly TokenSequence[];
  /** Made the sequences. With it, the run reports characters that it lost. */
  readonly tokenizer?: Tokenizer | undefined;
}

const mustBeSequence =
  'must be a sequence with lists of `tokens` and of `mask`; demonstrationSequences makes them of text';

/** Whether a value has the lists that an update reads. Their lengths are looked at before the first update. */
function isSequence(value: unknown): boolean {
  if (!isRecord(value)) return false;
  return [value.tokens, value.mask].every((list) => Array.isArray(list) || ArrayBuffer.isView(list));
}

const dependencySchema = z.strictObject({
  ...updateDependencyShape,
  sequences: z
    .custom<readonly TokenSequence[]>(Array.isArray, 'must be a list of sequences')
    .superRefine((sequences, context) => {
      const wrong = sequences.findIndex((one) => !isSequence(one));
      if (wrong >= 0) context.addIssue({ code: 'custom', path: [wrong], message: mustBeSequence });
    }),
  tokenizer: needed.tokenizer.optional(),
} satisfies Record<keyof SftDependencies, z.ZodType>);

/** Schema of {@link SftState}. */
export const sftStateSchema = z.strictObject({ iteration: z.int().nonnegative() });

/** Where an SFT run stands: with the backend's checkpoint, all that is needed to continue it. */
export interface SftState extends UpdateState {}

/** One update. */
export interface SftReport extends UpdateReport {}

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
  requireArguments('runSftTraining', { options: 'object?' }, options);
  const { resume, ...own } = options;
  const resolved = resolveSftOptions(own);
  const { backend: given, sequences: all } = dependencies;
  const logger = guardedLogger(dependencies.logger, console.warn);
  const say = (text: string) => logger?.note?.(resume?.iteration ?? 0, text);
  const { sequences, note } = withinLength(all, resolved.maxLength, given.contextLength);
  if (note !== undefined) say(note);
  checkBeforeSft({ ...dependencies, sequences, note, sequencesPerBatch: resolved.sequencesPerBatch, say });
  yield* runUpdates(
    { ...dependencies, logger },
    {
      deadlines: resolved.deadlines,
      lengths: sequences.map(({ tokens }) => tokens.length),
      plan: { ...resolved, perBatch: resolved.sequencesPerBatch },
      resume,
      accumulate: async ({ backend, rows }) => {
        const batch = { sequences: toBatch(sequences, rows, resolved) };
        const pass = await backend.forwardBackward(batch, sftLosses[resolved.loss]);
        return { pass, metrics: { 'loss/sft': pass.loss } };
      },
    },
  );
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
