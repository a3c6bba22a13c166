import { TabularBackend } from '@rlp/backprop/tabular';
import { OptionsError } from '@rlp/core';
import { expect, it } from 'vitest';
import { BackpropModule } from '../backprop-module.ts';
import { runRewardModelTraining } from '../preference/reward-model.ts';
import { runPreferenceTraining } from '../preference/run-preference.ts';
import { runSftTraining } from '../supervised/sft.ts';

it.each<[string, 'optimStep' | 'logprobs', (backend: TabularBackend) => unknown]>([
  ['runSftTraining', 'optimStep', (backend) => runSftTraining({ backend, sequences: [] }).next()],
  ['runPreferenceTraining', 'logprobs', (backend) => runPreferenceTraining({ backend, pairs: [] }).next()],
  ['runRewardModelTraining', 'optimStep', (backend) => runRewardModelTraining({ backend, pairs: [] }).next()],
  ['BackpropModule', 'logprobs', (backend) => new BackpropModule({ backend })],
])('%s names the method that a partial backend lacks: %s', async (owner, method, run) => {
  const backend = Object.assign(new TabularBackend({ vocabularySize: 2 }), { [method]: undefined });
  const refused = (async () => run(backend))();
  await expect(refused).rejects.toThrow(OptionsError);
  await expect(refused).rejects.toThrow(
    new RegExp(`^${owner}.*backend: must have the methods .*, got none named ${method}; implement`, 's'),
  );
});
