import {
  ArgumentError,
  parseOptions,
  type ReferenceBackend,
  requireArguments,
  requireGroups,
} from '@rlp/core';
import * as z from 'zod';
import {
  runUpdates,
  type UpdateDependencies,
  type UpdateReport,
  type UpdateState,
  updateDependencyShape,
} from '../supervised/run-updates.ts';
import { backendWith } from '../training/backend-with.ts';
import { guardedLogger } from '../training/guarded-logger.ts';
import type { ResumeOptions } from '../training/resume-options.ts';
import { examplesWithin, pairsWithin } from './judged-within.ts';
import { learnPairs } from './learn-pairs.ts';
import { learnSingles } from './learn-singles.ts';
import type { LearnBatch, Learned } from './learning.ts';
import { isSingle, type PairTerm, readsReference, type SingleTerm } from './loss-options.ts';
import {
  type PreferenceOptions,
  type ResolvedPreferenceOptions,
  resolvePreferenceOptions,
} from './options.ts';
import type { JudgedPair, JudgedSequence, LabelledSequence } from './preferences.ts';
import { ReferenceScores } from './reference-scores.ts';
import { completionTokens } from './row-scores.ts';

/** What `runPreferenceTraining` works with. Give either `pairs` or `examples`. */
export interface PreferenceDependencies extends UpdateDependencies {
  /** Preferences, for instance from `judgedPair`. Losses over single sequences take them apart. */
  readonly pairs?: readonly JudgedPair[] | undefined;
  /** Completions with labels, for losses over single sequences such as `'kto'`. */
  readonly examples?: readonly LabelledSequence[] | undefined;
}

const dependencySchema = z.strictObject({
  ...updateDependencyShape,
  backend: backendWith('forwardBackward', 'optimStep', 'logprobs'),
  pairs: z.custom<readonly JudgedPair[]>(Array.isArray, 'must be a list of pairs').optional(),
  examples: z.custom<readonly LabelledSequence[]>(Array.isArray, 'must be a list of examples').optional(),
} satisfies Record<keyof PreferenceDependencies, z.ZodType>);

/** Where a preference run stands: with the backend's checkpoint, all that is needed to continue it. */
export interface PreferenceState extends UpdateState {}

/** One update. */
export interface PreferenceReport extends UpdateReport {}

/**
 * Learns from preferences: DPO and its relatives, CPO, SimPO, ORPO and KTO. One report per update.
 *
 * A backend with `tokensPerRow` compares both sides of a pair in one pass. Otherwise each update first computes the log-probabilities of
 * its rows, then the loss and its derivative by each sum. Cross-entropy with these derivatives as weights has the gradient of the
 * loss, exactly and for every way to cut the batch. Log-probabilities under a reference policy that does not move are computed once.
 *
 * Data are shuffled in each epoch by a stream named by seed and epoch. A resumed run sees exactly the batches that the interrupted run
 * would have seen. Publishes nothing.
 *
 * @throws OptionsError for options outside their ranges and for dependencies that are missing or not known, ArgumentError for data
 *   that the loss cannot learn from, or a backend without a reference policy if the loss reads one.
 */
export async function* runPreferenceTraining(
  dependencies: PreferenceDependencies,
  options: PreferenceOptions & ResumeOptions<PreferenceState> = {},
): AsyncGenerator<PreferenceReport, void, undefined> {
  parseOptions('runPreferenceTraining', dependencySchema, dependencies, 'PreferenceDependencies');
  requireArguments('runPreferenceTraining', { options: 'object?' }, options);
  const { resume, ...own } = options;
  const resolved = resolvePreferenceOptions(own);
  checkReference(dependencies, resolved);
  const { notes, ...given } = shortEnough(dependencies, resolved);
  const logger = guardedLogger(dependencies.logger, console.warn);
  for (const note of notes) logger?.note?.(resume?.iteration ?? 0, note);
  const { rows, learn } = learner({ ...dependencies, ...given }, resolved);
  const { referenceUpdate, deadlines, pairsPerBatch } = resolved;
  const references = new ReferenceScores();
  yield* runUpdates(
    { ...dependencies, logger },
    {
      deadlines,
      lengths: rows,
      plan: { ...resolved, perBatch: pairsPerBatch },
      resume,
      accumulate: async ({ backend, rows, iteration }) => {
        if (movesNow(referenceUpdate, iteration)) {
          const { decay } = referenceUpdate;
          await (backend as ReferenceBackend).updateReference({ method: 'ema', decay });
          references.forget();
        }
        // Equal rows make equal batches, in whatever order they were drawn.
        return learn({ backend, references, rows: [...rows].sort((a, b) => a - b) });
      },
    },
  );
}

/** Data within the length that is asked for. */
function shortEnough(
  { pairs, examples, backend }: PreferenceDependencies,
  { maxLength }: ResolvedPreferenceOptions,
) {
  const context = { owner: 'runPreferenceTraining', contextLength: backend.contextLength };
  const judged = pairs && pairsWithin(pairs, maxLength, context);
  const labelled = examples && examplesWithin(examples, maxLength, context);
  return {
    pairs: judged?.items,
    examples: labelled?.items,
    notes: [judged?.note, labelled?.note].filter((note) => note !== undefined),
  };
}

type MovingReference = Extract<ResolvedPreferenceOptions['referenceUpdate'], { method: 'ema' }>;

/** Whether the reference policy moves before this update, after those before it. */
function movesNow(
  update: ResolvedPreferenceOptions['referenceUpdate'],
  iteration: number,
): update is MovingReference {
  return update.method === 'ema' && iteration > 0 && iteration % update.everyUpdates === 0;
}

/** Tokens of each example, and what accumulates the gradient of a batch. */
interface Learner {
  readonly rows: readonly number[];
  readonly learn: (batch: LearnBatch) => Promise<Learned>;
}

function learner({ pairs, examples }: PreferenceDependencies, options: ResolvedPreferenceOptions): Learner {
  const { loss: terms } = options;
  if ((pairs === undefined) === (examples === undefined)) {
    throw new ArgumentError('runPreferenceTraining: give either pairs or examples');
  }
  const { kind } = terms[0]!;
  if (terms.every(isSingle)) {
    const singles = examples ?? pairs!.flatMap(apart);
    check(
      singles.map(({ sequence }) => sequence),
      'examples',
    );
    return {
      rows: singles.map(({ sequence }) => sequence.tokens.length),
      learn: (batch) => learnSingles(batch, singles, { ...options, terms: terms as readonly SingleTerm[] }),
    };
  }
  if (pairs === undefined) {
    throw new ArgumentError(
      `runPreferenceTraining: the loss '${kind}' compares pairs; give pairs, or take the loss 'kto' for examples`,
    );
  }
  check(
    pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]),
    'pairs',
  );
  return {
    rows: pairs.map(({ chosen, rejected }) => chosen.tokens.length + rejected.tokens.length),
    learn: (batch) => learnPairs(batch, pairs, { ...options, terms: terms as readonly PairTerm[] }),
  };
}

/** A pair as two examples. */
function apart({ chosen, rejected }: JudgedPair): readonly LabelledSequence[] {
  return [
    { sequence: chosen, label: 'desirable' },
    { sequence: rejected, label: 'undesirable' },
  ];
}

/** Refuses data without a completion. */
function check(sequences: readonly JudgedSequence[], field: 'pairs' | 'examples'): void {
  const empty = sequences.findIndex((sequence) => completionTokens(sequence) === 0);
  if (sequences.length > 0 && empty < 0) return;
  const at = field === 'pairs' ? Math.floor(empty / 2) : empty;
  throw new ArgumentError(
    `runPreferenceTraining: expected ${field} with completions (mask 1), got ` +
      (sequences.length === 0 ? 'none' : `${field}[${at}] without a token of mask 1; leave it out`),
  );
}

function checkReference({ backend }: PreferenceDependencies, options: ResolvedPreferenceOptions): void {
  const reading = options.loss.find(readsReference);
  const moving = options.referenceUpdate.method === 'none' ? [] : ['referenceUpdate'];
  const needs = [...(reading ? [`loss '${reading.kind}'`] : []), ...moving];
  requireGroups(
    'runPreferenceTraining',
    backend,
    needs.map((option) => ({ option, group: 'reference' })),
  );
}
