import { describeCriticBackend } from '@rlp/core/testing';
import { describe } from 'vitest';
import { inlineBackends, temporaryCheckpoint } from './testing/inline-backends.ts';
import { gpt2, tinyModel, tokenizer } from './testing/tiny-model.ts';

const backends = inlineBackends();

describe.each([
  ['a decoder, fully trained', {}],
  ['a decoder whose output matrix is its own', { model: tinyModel({ tie_word_embeddings: false }) }],
  ['a GPT-2, activations recomputed', { model: tinyModel(gpt2), activations: 'recompute' }],
  ['a decoder with low-rank adaptation', { adaptation: { kind: 'lora', rank: 3 }, tokensPerMicroBatch: 4 }],
] as const)('%s', (name, options) => {
  describeCriticBackend(name, {
    create: async () => (await backends.create({ ...options, valueHead: 'linear' })).backend,
    createWithoutHead: async () => (await backends.create(options)).backend,
    vocabularySize: tokenizer.vocabularySize,
    checkpointDirectory: temporaryCheckpoint,
  });
});
