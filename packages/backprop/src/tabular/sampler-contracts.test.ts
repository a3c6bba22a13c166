import { describeInferenceEngine, describeSampler, describeTokenScorer } from '@rlp/core/testing';
import { TabularBackend } from './backend.ts';
import { TabularSampler } from './sampler.ts';

const backend = new TabularBackend({ vocabularySize: 5, contextTokens: 1, initialScale: 1 });
const create = () => new TabularSampler({ backend });

describeSampler('TabularSampler', { create, prompt: [1, 2] });

describeTokenScorer('TabularSampler', {
  create,
  requests: [
    { prompt: [1], completion: [2, 3, 4] },
    { prompt: [0, 1, 2], completion: [4, 0] },
  ],
  vocabularySize: 5,
});

describeInferenceEngine('TabularSampler', {
  create,
  publication: async (version) => {
    let publication = await backend.publish({ as: 'shared' });
    while (publication.version < version) publication = await backend.publish({ as: 'shared' });
    return publication;
  },
  impossible: (version) => ({ kind: 'checkpoint', version, path: 'missing' }),
  prompt: [1],
});
