import {
  ArgumentError,
  described,
  type Loss,
  requireArguments,
  type TokenId,
  type TrainingBatch,
  type TrainingSequence,
} from '@rlp/core';

/** Limits of the model's input. */
export interface PackingLimits {
  readonly vocabularySize: number;
  /** Maximum number of tokens in a sequence. */
  readonly contextLength: number;
}

/** How sequences are to be scored. */
export interface Scoring {
  readonly temperature: number;
  /** 1 for tokens whose scores are wanted. Default: all but the first of each sequence. */
  readonly masks?: readonly ArrayLike<number>[] | undefined;
  /** Packs as for training by a loss with so many in a row. Default: sequences share whatever they can. */
  readonly sequencesPerRow?: number | undefined;
}

const mostReported = 10;

/**
 * Checks a training batch against its loss and the model's limits. Throws one ArgumentError with every
 * problem.
 */
export function validateBatch(batch: TrainingBatch, loss: Loss, limits: PackingLimits): void {
  requireBatch(batch, loss);
  const problems: string[] = [];
  if (batch.sequences.length === 0) problems.push('the batch is empty, expected at least one sequence');
  checkRows(batch.sequences.length, loss.sequencesPerRow, `the loss "${loss.key}" reads`, problems);
  const temperatures = new Set(batch.sequences.map(({ temperature }) => temperature ?? 1));
  if (temperatures.size > 1) {
    problems.push(`all sequences must have one temperature, got ${[...temperatures].join(', ')}`);
  }
  for (const temperature of temperatures) checkTemperature(temperature, problems);
  for (const [index, sequence] of batch.sequences.entries()) {
    const at = `sequences[${index}]`;
    checkTokens(at, sequence.tokens, limits, problems);
    if (checkLengths(at, sequence, loss, problems)) checkValues(at, sequence, loss, problems);
  }
  report('forwardBackward', problems);
}

/** Refuses what is not a batch and a loss at all. @throws ArgumentError */
export function requireBatch(batch: { readonly sequences?: unknown }, loss: unknown): void {
  if (!Array.isArray(batch?.sequences)) {
    throw new ArgumentError(
      `forwardBackward: expected a batch { sequences: [ … ] }, got ${described(batch)}`,
    );
  }
  if (typeof (loss as Loss | undefined)?.compute !== 'function') {
    throw new ArgumentError(`forwardBackward: expected a loss after the batch, got ${described(loss)}`);
  }
  for (const [index, sequence] of batch.sequences.entries()) {
    const { tokens, columns } = (sequence ?? {}) as Partial<TrainingSequence>;
    if (Array.isArray(tokens) || ArrayBuffer.isView(tokens)) {
      if ((loss as Loss).columns.length === 0 || (typeof columns === 'object' && columns !== null)) continue;
    }
    throw new ArgumentError(
      `forwardBackward: expected sequences { tokens, mask, weights, columns }, got ${described(sequence)} at ${index}`,
    );
  }
}

/** Refuses a loss whose rows hold several sequences. @throws ArgumentError */
export function requireSeparateRows({ key, sequencesPerRow = 1 }: Loss): void {
  if (sequencesPerRow === 1) return;
  throw new ArgumentError(
    `forwardBackward: the loss "${key}" reads ${sequencesPerRow} sequences in a row, which this backend does not join; ` +
      'use createOnnxBackend',
  );
}

/**
 * Checks plain sequences against the model's limits. Throws one ArgumentError with every problem.
 *
 * @param owner - Start of the error message.
 */
export function validateTokens(
  owner: string,
  sequences: readonly (readonly TokenId[])[],
  limits: PackingLimits,
  { temperature, masks, sequencesPerRow }: Scoring,
): void {
  requireArguments(owner, { sequences: 'lists' }, sequences);
  const problems: string[] = [];
  checkTemperature(temperature, problems);
  checkRows(sequences.length, sequencesPerRow, 'sequencesPerRow puts', problems);
  if (masks && masks.length !== sequences.length) {
    problems.push(`there are ${masks.length} masks, expected ${sequences.length} as sequences`);
  }
  for (const [index, tokens] of sequences.entries()) {
    checkTokens(`sequences[${index}]`, tokens, limits, problems);
    const mask = masks?.[index];
    if (mask && mask.length !== tokens.length) {
      problems.push(`masks[${index}] has length ${mask.length}, expected ${tokens.length} as tokens`);
    }
  }
  report(owner, problems);
}

function report(owner: string, problems: readonly string[]): void {
  if (problems.length === 0) return;
  const lines = problems.slice(0, mostReported);
  if (problems.length > mostReported) lines.push(`and ${problems.length - mostReported} more`);
  throw new ArgumentError(`${owner}: invalid batch\n${lines.map((line) => `  - ${line}`).join('\n')}`);
}

function checkRows(sequences: number, perRow: number | undefined, reading: string, problems: string[]): void {
  if (perRow === undefined || (Number.isInteger(perRow) && perRow >= 1 && sequences % perRow === 0)) return;
  problems.push(
    `there are ${sequences} sequences, expected a multiple of ${perRow}, which ${reading} in a row`,
  );
}

function checkTemperature(temperature: number, problems: string[]): void {
  if (!(temperature > 0 && Number.isFinite(temperature))) {
    problems.push(`temperature must be positive and finite, got ${temperature}`);
  }
}

function checkTokens(
  at: string,
  tokens: readonly TokenId[],
  { vocabularySize, contextLength }: PackingLimits,
  problems: string[],
): void {
  if (tokens.length === 0) problems.push(`${at}.tokens is empty, expected at least one token`);
  if (tokens.length > contextLength) {
    problems.push(`${at} has ${tokens.length} tokens, the model's context holds ${contextLength}`);
  }
  const wrong = tokens.findIndex(
    (token) => !(Number.isInteger(token) && token >= 0 && token < vocabularySize),
  );
  if (wrong >= 0) {
    problems.push(`${at}.tokens[${wrong}] is ${tokens[wrong]}, expected an id below ${vocabularySize}`);
  }
}

/** Whether all arrays are present and as long as `tokens`. */
function checkLengths(at: string, sequence: TrainingSequence, loss: Loss, problems: string[]): boolean {
  const before = problems.length;
  const expected = sequence.tokens.length;
  const parts: [string, ArrayLike<number> | undefined][] = [
    ['mask', sequence.mask],
    ['weights', sequence.weights],
  ];
  for (const name of loss.columns) {
    const column = Object.hasOwn(sequence.columns, name) ? sequence.columns[name] : undefined;
    parts.push([`columns.${name}`, column]);
  }
  for (const [name, part] of parts) {
    if (part === undefined) problems.push(`${at}.${name} is missing; the loss "${loss.key}" reads it`);
    else if (part.length !== expected) {
      problems.push(`${at}.${name} has length ${part.length}, expected ${expected} as tokens`);
    }
  }
  return problems.length === before;
}

function checkValues(at: string, sequence: TrainingSequence, loss: Loss, problems: string[]): void {
  const { mask, weights, columns } = sequence;
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] !== 0 && mask[t] !== 1)
      return void problems.push(`${at}.mask[${t}] is ${mask[t]}, expected 0 or 1`);
    if (mask[t] === 0) continue;
    if (t === 0) return void problems.push(`${at}.mask[0] is 1, but nothing predicts the first token`);
    if (!Number.isFinite(weights[t])) {
      return void problems.push(`${at}.weights[${t}] is ${weights[t]}, expected a finite number`);
    }
    for (const name of loss.columns) {
      const value = columns[name]![t];
      if (!Number.isFinite(value)) {
        return void problems.push(`${at}.columns.${name}[${t}] is ${value}, expected a finite number`);
      }
    }
  }
}
