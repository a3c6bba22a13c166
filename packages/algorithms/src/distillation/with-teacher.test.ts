import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import type { TokenScorer, TrainingBatch } from '@rlp/core';
import { rewardFunctions } from '@rlp/rewards';
import { describe, expect, it } from 'vitest';
import { REINFORCEAlgorithm } from '../algorithm/reinforce.ts';
import { endlessTasks, letterTokenizer as tokenizer } from '../loop/bandit.fixture.ts';
import { distillationOptions, withTeacher } from './with-teacher.ts';

const probabilities = [0.02, 0.3, 0.1, 0.05, 0.4, 0.03, 0.06, 0.04];
/** Says the same after every token. */
const teacher: TokenScorer = {
  scoreTokens: async (requests) =>
    requests.map(({ completion }) => ({
      logprobs: Float32Array.from(completion, (token) => Math.log(probabilities[token]!)),
      entropies: new Float32Array(completion.length),
    })),
};
const environment = {
  reset: (task: { readonly prompt: string }) => ({ prompt: task.prompt, response: '', stepCount: 0 }),
  buildPrompt: ({ prompt }: { readonly prompt: string }) => prompt,
  updateState: <S extends { readonly stepCount: number }>(state: S, response: string) => {
    return { ...state, response, stepCount: state.stepCount + 1 };
  },
  isTerminal: ({ stepCount }: { readonly stepCount: number }) => stepCount > 0,
};

async function distilled(iterations: number, learningRate: number) {
  const backend = new TabularBackend({ vocabularySize: 8, contextTokens: 1, learningRate });
  const batches: TrainingBatch[] = [];
  const forwardBackward = backend.forwardBackward.bind(backend);
  backend.forwardBackward = (batch, loss) => {
    batches.push(batch);
    return forwardBackward(batch, loss);
  };
  const algorithm = new REINFORCEAlgorithm(
    {
      ...{ environment, tokenizer },
      rewards: rewardFunctions({ none: () => 0 }),
      backend: withTeacher(backend, teacher),
      sampler: new TabularSampler({ backend, tokenizer }),
      tasks: endlessTasks((index) => ({ id: `${index}`, prompt: 'a', metadata: {} })),
    } as never,
    {
      ...{ ...distillationOptions(), seed: 's', tasksPerIteration: 64 },
      rollout: { groupSize: 1, sampling: { maxTokens: 1 } },
    },
  );
  const kl: number[] = [];
  for await (const { metrics } of algorithm.run({ iterations })) kl.push(metrics['kl/reference']!);
  const all = await backend.logprobs([...probabilities.keys()].map((token) => [0, token]));
  return { batches, kl, policy: all.map(({ logprobs }) => Math.exp(logprobs[1]!)) };
}

describe('withTeacher', () => {
  it('gives each token the advantage -(ln π - ln π_teacher)', async () => {
    const { batches } = await distilled(1, 1e-9);
    const tokens = batches.flatMap(({ sequences }) => sequences);
    expect(tokens).toHaveLength(64);
    for (const {
      tokens: [, token],
      columns,
    } of tokens) {
      const expected = -(Math.log(1 / 8) - Math.log(probabilities[token!]!));
      expect(columns.advantages![1]).toBeCloseTo(expected, 5);
    }
  });

  it('ends at the probabilities of the teacher', async () => {
    const { kl, policy } = await distilled(40, 0.2);
    expect(kl.at(-1)!).toBeLessThan(0.1);
    for (const [token, share] of policy.entries()) expect(share).toBeCloseTo(probabilities[token]!, 1);
  });

  it('keeps what the backend can, and refuses to move the teacher', async () => {
    const backend = withTeacher(new TabularBackend({ vocabularySize: 8, contextTokens: 1 }), teacher);
    expect('values' in backend).toBe(true);
    await expect(backend.updateReference({ decay: 0.5 } as never)).rejects.toThrow('a teacher does not move');
    const [scores] = await backend.logprobs([[0, 4]], { policy: 'reference' });
    expect([...scores!.logprobs]).toEqual([0, Math.fround(Math.log(0.4))]);
    const poor = new TabularBackend({ vocabularySize: 8, contextTokens: 1 });
    Object.defineProperty(poor, 'lacks', { value: ['reference', 'values'], configurable: true });
    expect(withTeacher(poor, teacher).lacks).toEqual(['values']);
  });

  it('asks the teacher at the temperature of the policy', async () => {
    const asked: unknown[] = [];
    const warm: TokenScorer = {
      scoreTokens: (requests, options) => {
        asked.push(options?.temperature);
        return teacher.scoreTokens(requests, options);
      },
    };
    const backend = withTeacher(new TabularBackend({ vocabularySize: 8, contextTokens: 1 }), warm);
    await backend.logprobs([[0, 4]], { policy: 'reference', temperature: 0.5 });
    expect(asked).toEqual([0.5]);
  });
});
