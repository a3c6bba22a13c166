import { demonstrationSequences, runSftTraining } from '@rlp/algorithms';
import type { Weights } from '@rlp/core';
import type { Setting } from './setting.ts';

/** Supervised fine-tuning on the careless teacher's demonstrations: the weights that every arm begins with. */
export async function imitate(setting: Setting, signal?: AbortSignal): Promise<Weights> {
  const { seed, tokenizer, demonstrations, imitation } = setting;
  const policy = await setting.newPolicy(imitation);
  const sequences = demonstrations.flatMap((one) => demonstrationSequences(one, { tokenizer }));
  const { updates, sequencesPerBatch } = imitation;
  try {
    const loop = runSftTraining(
      { backend: policy.backend, sequences, signal },
      { seed, updates, sequencesPerBatch },
    );
    for await (const _ of loop);
    signal?.throwIfAborted();
    return await policy.backend.getWeights();
  } finally {
    await policy.close();
  }
}
