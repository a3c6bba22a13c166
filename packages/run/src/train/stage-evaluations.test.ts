import { SimpleTextEnvironment } from '@rlp/env';
import { characterTokenizer } from '@rlp/models';
import { expect, it } from 'vitest';
import type { OpenStage } from './stage-evaluations.ts';
import { sampledByEvaluation } from './stage-evaluations.ts';

const model = { tokenizer: characterTokenizer('abc', { end: '.' }), config: { contextLength: 12 } };
const evaluation = { samples: 3, temperature: 0, maxTokens: 4 };
const sampledBy = (prompts: readonly string[], change: object = {}, stage: object = {}) =>
  sampledByEvaluation({
    run: {
      model,
      prepared: {
        environment: new SimpleTextEnvironment(),
        rows: {
          practised: [],
          heldOut: prompts.map((prompt, at) => ({ id: `${at}`, prompt, metadata: {} })),
        },
        given: {},
        config: { seed: '0', evaluation, ...change },
      },
    },
    stage,
  } as unknown as OpenStage);

it('an evaluation samples all held-out rows, the longest with its answer in the context', () => {
  expect(sampledBy(['a', 'abc'])).toEqual({ tokens: 7, sequences: 6 });
  expect(sampledBy(['abcabcabcab'])).toEqual({ tokens: 12, sequences: 3 });
});

it('an evaluation that is not wanted, has no rows or compares pairs samples nothing', () => {
  expect(sampledBy(['a'], { evaluation: 'none' })).toBeUndefined();
  expect(sampledBy([])).toBeUndefined();
  const stage = { measure: () => undefined };
  expect(sampledBy(['a'], {}, stage)).toBeUndefined();
  expect(sampledBy(['a'], {}, { ...stage, measuresPairs: () => false })).toBeDefined();
});
