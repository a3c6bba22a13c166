import {
  ArgumentError,
  plural,
  type Tokenizer,
  type TokenSequence,
  type TrainingBackend,
  TrainingError,
} from '@rlp/core';
import { isMasked } from '../sequence/is-masked.ts';
import { memoryOf } from '../training/memory-of.ts';

/** Text of an unknown token. A byte of a character decodes to U+FFFD, and is none. */
const unknown = /^\s*(<unk>|\[unk\]|\u2047)\s*$/i;

/** What a run of supervised fine-tuning is about to do. */
interface SftPlan {
  readonly backend: TrainingBackend;
  readonly sequences: readonly TokenSequence[];
  readonly tokenizer?: Tokenizer | undefined;
  readonly sequencesPerBatch: number;
  /** Says how many long sequences were dropped or truncated. */
  readonly note?: string | undefined;
  readonly say: (text: string) => void;
}

/**
 * Looks at all sequences and at the memory before the first update, because an update far into the run would fail on them.
 *
 * @throws ArgumentError if there is nothing to imitate, or if sequences do not fit the model.
 * @throws TrainingError if the largest update takes more memory than the machine has.
 */
export function checkBeforeSft({
  backend,
  sequences,
  tokenizer,
  sequencesPerBatch,
  note,
  say,
}: SftPlan): void {
  const silent = sequences.filter(({ mask }) => isMasked(mask)).length;
  if (silent === sequences.length) {
    throw new ArgumentError(
      `runSftTraining: expected sequences with a token to imitate (mask 1), got none in ${sequences.length}${note === undefined ? '' : ` (${note})`}; ` +
        'demonstrationSequences makes sequences from demonstrations',
    );
  }
  checkSequences(sequences, backend);
  if (silent > 0) {
    say(
      `${silent} of ${plural(sequences.length, 'sequence')} ${silent === 1 ? 'has' : 'have'} no token to imitate (mask 1), so they cost time and teach nothing; leave them out`,
    );
  }
  if (tokenizer !== undefined) sayWhatIsLost(sequences, { tokenizer, backend, say });
  checkMemory({ backend, sequences, sequencesPerBatch, say });
}

/** @throws ArgumentError naming the first sequence that does not fit the model, and how many there are. */
function checkSequences(
  sequences: readonly TokenSequence[],
  { vocabularySize = Number.POSITIVE_INFINITY }: TrainingBackend,
): void {
  const problemOf = ({ tokens, mask }: TokenSequence): Problem | undefined => {
    if (mask.length !== tokens.length) {
      const problem = `has ${plural(tokens.length, 'token')} and a mask of ${mask.length}`;
      return { problem, remedy: 'give one mask value per token' };
    }
    const at = tokens.findIndex((token) => !Number.isInteger(token) || token < 0 || token >= vocabularySize);
    if (at < 0) return undefined;
    const problem = `has the token ${tokens[at]} at position ${at}, and the vocabulary of the model has ${vocabularySize}`;
    return { problem, remedy: 'encode the examples with the tokenizer of this model' };
  };
  const problems = sequences.flatMap((sequence, at) => {
    const problem = problemOf(sequence);
    return problem === undefined ? [] : [{ at, ...problem }];
  });
  const [first] = problems;
  if (first === undefined) return;
  throw new ArgumentError(
    `runSftTraining: ${problems.length} of ${plural(sequences.length, 'sequence')} ${problems.length === 1 ? 'does not' : 'do not'} fit: sequence ${first.at} ${first.problem}; ${first.remedy}`,
  );
}

interface Problem {
  readonly problem: string;
  readonly remedy: string;
}

function sayWhatIsLost(
  sequences: readonly TokenSequence[],
  { tokenizer, backend, say }: { readonly tokenizer: Tokenizer } & Pick<SftPlan, 'backend' | 'say'>,
): void {
  const { vocabularySize = 0 } = backend;
  // Embeddings are often padded by some percent.
  if (tokenizer.vocabularySize < vocabularySize / 2) {
    say(
      `the tokenizer has ${tokenizer.vocabularySize} tokens and the model ${vocabularySize}, so it may be that of another model; check it`,
    );
  }
  const fates = new Map<number, boolean>();
  const isUnknown = (token: number) => {
    const known = fates.get(token) ?? unknown.test(tokenizer.decode([token], { specialTokens: 'keep' }));
    fates.set(token, known);
    return known;
  };
  const damaged = sequences.filter(({ tokens }) => tokens.some(isUnknown)).length;
  if (damaged === 0) return;
  say(
    `${damaged} of ${plural(sequences.length, 'sequence')} ${damaged === 1 ? 'has' : 'have'} unknown tokens in place of characters that the tokenizer lacks; ` +
      'use a tokenizer that has them, or leave these examples out',
  );
}

function checkMemory({
  backend,
  sequences,
  sequencesPerBatch,
  say,
}: Omit<SftPlan, 'tokenizer' | 'note'>): void {
  const sorted = sequences.toSorted((a, b) => b.tokens.length - a.tokens.length);
  const count = Math.min(sequencesPerBatch, sequences.length);
  // Of all lengths, short sequences fill micro-batches beside long ones.
  const spread = Array.from({ length: count }, (_, at) => sorted[Math.floor((at * sorted.length) / count)]!);
  const batches = count < sorted.length ? [sorted.slice(0, count), spread] : [sorted];
  const looks = batches.map((batch) => memoryOf(backend.forecastMemory?.(batch), batch));
  const look = looks.find((one) => one?.outcome === 'too-much') ?? looks.find((one) => one !== undefined);
  if (look === undefined) return;
  if (look.outcome === 'too-much')
    throw new TrainingError(`runSftTraining: ${look.sentence}; ${look.remedy}`);
  say(`${look.sentence}; ${look.remedy}`);
}
