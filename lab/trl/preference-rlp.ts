import { join } from 'node:path';
import {
  type JudgedPair,
  type LabelledSequence,
  runPreferenceTraining,
  runRewardModelTraining,
} from '@rlp/algorithms/preference';
import { createOnnxBackend } from '@rlp/backprop';
import { loadModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { distilledInExpectation, sampledDistillation } from './distilled-in-expectation.ts';
import type { PreferenceCase, PreferenceJob } from './preference-cases.ts';
import { weightsIn } from './rlp-side.ts';

/** What a side reports of a case. */
export interface PreferenceOutcome {
  readonly updates: readonly {
    readonly loss: number;
    readonly norm: number;
    readonly logs?: Readonly<Record<string, number>>;
  }[];
  readonly weights: ReadonlyMap<string, ArrayLike<number>>;
  /** Processor time of each update. */
  readonly seconds: readonly number[];
}

const judged = (prompt: readonly number[], completion: readonly number[]) => ({
  tokens: [...prompt, ...completion],
  mask: Uint8Array.from([...prompt.map(() => 0), ...completion.map(() => 1)]),
});

/** Trains a case with rlp and reads back the weights that it saves in `folder`. */
export async function trainPreferences(
  job: PreferenceJob,
  one: PreferenceCase,
  folder: string,
): Promise<PreferenceOutcome> {
  const engine = await createEngine({ threads: 1 });
  try {
    const backend = await createOnnxBackend({
      engine,
      model: await loadModel(job.model),
      learningRate: job.learningRate,
      ...(one.trainer === 'reward' && {
        valueHead: { shape: [1, job.head.length], data: Float32Array.from(job.head) },
      }),
    });
    const { pairs, examples } = dataOf(job, one);
    const length = { updates: job.updates, pairsPerBatch: 64 };
    const run =
      one.trainer === 'gkd'
        ? distilledInExpectation(job, backend, engine)
        : one.trainer === 'reward'
          ? runRewardModelTraining({ backend, pairs }, { ...one.reward, ...length })
          : runPreferenceTraining(one.trainer === 'kto' ? { backend, examples } : { backend, pairs }, {
              ...one.rlp,
              ...length,
            });
    const updates: PreferenceOutcome['updates'][number][] = [];
    const seconds: number[] = [];
    let begun = process.cpuUsage();
    for await (const { metrics } of run) {
      const loss = metrics['loss/preference'] ?? metrics['loss/reward-model'] ?? metrics['kl/reference'];
      updates.push({ loss: loss!, norm: metrics['gradient/norm']! });
      const { user, system } = process.cpuUsage(begun);
      seconds.push((user + system) / 1e6);
      begun = process.cpuUsage();
    }
    await backend.saveCheckpoint(folder);
    const weights = await weightsIn(join(folder, 'model.safetensors'));
    if (one.trainer === 'reward') {
      for (const [name, tensor] of await weightsIn(join(folder, 'value_head.safetensors')))
        weights.set(name, tensor);
    }
    const timed = one.trainer === 'gkd' ? await sampledDistillation(job, backend, engine) : seconds;
    return { updates, weights, seconds: timed };
  } finally {
    await engine.close();
  }
}

function dataOf(job: PreferenceJob, { margins }: PreferenceCase) {
  const pairs = job.pairs.map(
    ({ prompt, chosen, rejected }, index): JudgedPair => ({
      chosen: judged(prompt, chosen),
      rejected: judged(prompt, rejected),
      ...(margins && { margin: margins[index % margins.length]! }),
    }),
  );
  const examples: LabelledSequence[] = [
    ...pairs.map(({ chosen }) => ({ sequence: chosen, label: 'desirable' as const })),
    ...pairs
      .slice(0, job.undesirable)
      .map(({ rejected }) => ({ sequence: rejected, label: 'undesirable' as const })),
  ];
  return { pairs, examples };
}
