import type { CriticBackend, Loss, TrainingSequence } from '../training.ts';
import type { TokenId } from '../trajectory.ts';
import { long, short } from './training-fixtures.ts';

/** `(V − return)²`: reads nothing of the policy. */
export const squaredError: Loss = {
  key: 'contract/squared-error',
  columns: ['returns'],
  values: 'only',
  compute: (ops, { values, columns }) => ({
    tokenLosses: ops.square(ops.sub(values!, columns.returns!)),
  }),
};

/** The policy gradient's and the critic's loss in one. */
export const policyAndValue: Loss = {
  key: 'contract/policy-and-value',
  columns: ['advantages', 'returns'],
  values: 'needed',
  compute: (ops, { logprobs, values, columns }) => ({
    tokenLosses: ops.sub(
      ops.square(ops.sub(values!, columns.returns!)),
      ops.mul(columns.advantages!, logprobs),
    ),
  }),
};

/** Minimises values, and reports the logprobs it sees. */
export function valuesWithLogprobs(values: 'needed' | 'only'): Loss {
  return {
    key: `contract/values-with-logprobs/${values}`,
    columns: [],
    values,
    compute: (_, inputs) => ({ tokenLosses: inputs.values!, metrics: { logprob: inputs.logprobs } }),
  };
}

/** A sequence with one return at every token. */
export function returnsOf(sequence: TrainingSequence, value: number): TrainingSequence {
  return { ...sequence, columns: { returns: sequence.tokens.map(() => value) } };
}

/** Updates towards a return of 1 on one sequence and −0.5 on another. */
export async function trainValues(backend: CriticBackend, updates: number): Promise<void> {
  const sequences = [returnsOf(short, 1), returnsOf(long, -0.5)];
  for (let update = 0; update < updates; update++) {
    backend.forwardBackward({ sequences }, squaredError);
    await backend.optimStep();
  }
}

/** Values of one sequence's states. */
export async function valuesOf(backend: CriticBackend, tokens: readonly TokenId[]): Promise<Float32Array> {
  const [values] = await backend.values([tokens]);
  return values!;
}
