import { RlpError } from '@rlp/core';
import { matrixFromRows, Tape } from '@rlp/tensor';
import { expect } from 'vitest';
import * as advantage from './advantage.ts';
import * as distillation from './distillation.ts';
import * as main from './index.ts';
import * as loss from './loss.ts';
import * as preference from './preference.ts';
import * as run from './run.ts';
import * as statistics from './statistics.ts';
import * as steps from './steps.ts';

type Call = (...args: unknown[]) => unknown;
/** Every function and class that the package exports. */
export const functions = new Map(
  [advantage, distillation, main, loss, preference, run, statistics, steps]
    .flatMap((entry) => Object.entries(entry))
    .filter((entry): entry is [string, Call] => typeof entry[1] === 'function'),
);
/** Calls one by its name. */
export const call = (name: string, ...args: readonly unknown[]) => functions.get(name)!(...args);

/** Checks that a call is answered with one of our errors, which begins with the name of the function. */
export function expectRefusal(name: string, args: readonly unknown[], message: string): void {
  expect(() => call(name, ...args), `${name}: ${message}`).toThrow(RlpError);
  expect(() => call(name, ...args)).toThrow(`${name}: ${message}`);
}

/** What a function over tensors reads: tensors, and the numbers and names among its options. */
interface OverTensors {
  readonly given: readonly string[];
  readonly numbers?: readonly string[];
  readonly optional?: readonly string[];
  readonly choices?: Readonly<Record<string, readonly string[]>>;
}

/** Functions over tensors. */
export const overTensors: Readonly<Record<string, OverTensors>> = {
  clippedSurrogate: {
    given: ['ratio', 'advantages'],
    numbers: ['clipLow', 'clipHigh'],
    optional: ['dualClip', 'ratioCap'],
  },
  clippedWeightSurrogate: {
    given: ['logprobs', 'advantages', 'ratio'],
    numbers: ['clipLow', 'clipHigh'],
  },
  divergenceMask: {
    given: ['logprobs', 'proximalLogprobs', 'advantages'],
    numbers: ['divergenceLow', 'divergenceHigh'],
    choices: { divergence: ['total-variation', 'kl'], dropped: ['outward', 'both'] },
  },
  gammaWeights: { given: ['logprobs', 'proximalLogprobs', 'advantages', 'mask'] },
  geometricMeanRatio: {
    given: ['advantages', 'logprobs', 'proximalLogprobs', 'mask'],
    numbers: ['clipLow', 'clipHigh'],
    optional: ['logRatioLimit'],
  },
  importanceRatio: {
    given: ['logprobs', 'proximalLogprobs', 'mask'],
    optional: ['logRatioLimit', 'logRatioCap'],
    choices: { level: ['token', 'sequence', 'sequence-token', 'sequence-product'] },
  },
  importanceSampling: { given: ['ratio', 'advantages'] },
  klEstimate: {
    given: ['logprobs', 'referenceLogprobs'],
    optional: ['logRatioLimit', 'limit'],
    choices: { estimator: ['k1', 'k2', 'k3', 'absolute'], gradient: ['own', 'k2'] },
  },
  mixedRatio: { given: ['logprobs', 'proximalLogprobs', 'mask'], numbers: ['sequence', 'token'] },
  offPolicySequenceMask: {
    given: ['logprobs', 'behaviorLogprobs', 'advantages', 'mask'],
    numbers: ['threshold'],
  },
  policyGradient: { given: ['logprobs', 'advantages'] },
  samplerWeights: {
    given: ['proximalLogprobs', 'behaviorLogprobs', 'mask'],
    optional: ['low', 'high', 'logRatioLimit'],
    choices: { level: ['token', 'sequence', 'geometric'], outside: ['clamp', 'zero'] },
  },
  softGateSurrogate: {
    given: ['ratio', 'advantages'],
    numbers: ['temperaturePositive', 'temperatureNegative'],
  },
  valueLoss: {
    given: ['values', 'returns'],
    optional: ['clip', 'scale', 'huberDelta'],
    choices: { clipForm: ['bounds', 'difference'] },
  },
  windowSurrogate: { given: ['logprobs', 'advantages', 'ratio'], numbers: ['clipLow', 'clipHigh'] },
};

/** Tensors of one token. */
export function tensors(names: readonly string[]) {
  const tape = new Tape();
  const inputs = Object.fromEntries(names.map((name) => [name, tape.variable(matrixFromRows([[-0.5]]))]));
  return [tape, inputs] as const;
}
