import type { Task } from '@rlp/core';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { scriptedBackend } from '@rlp/inference';
import { characterTokenizer } from '@rlp/models';
import { createIntegratedRewardSystem, type ProcessedEpisodes } from '@rlp/rewards';
import { RolloutManager } from '@rlp/rollout';

interface Capital {
  readonly answer: string;
}

/** Questions with their answers, for the accuracy component. */
const tasks: readonly Task<Capital>[] = [
  { id: 'france', prompt: 'What is the capital of France?', metadata: { answer: 'Paris' } },
  { id: 'japan', prompt: 'What is the capital of Japan?', metadata: { answer: 'Tokyo' } },
];

/** What the scripted policy says: two answers that fit France, one that fits Japan, and one that is no sentence. */
const answers = [
  'The capital of France is Paris.',
  'It is the city of Paris, on the Seine.',
  'The capital of Japan is Tokyo.',
  'um um um um',
];

const printable = Array.from({ length: 95 }, (_, k) => String.fromCharCode(32 + k)).join('');
const tokenizer = characterTokenizer(`${printable.replace('~', '')}\n`, { end: '~' });

/** Collects episodes and judges them. */
export interface Coordinator {
  /** The next batch of episodes, as many as there are tasks times the size of a group. */
  collect(): Promise<ProcessedEpisodes>;
  close(): void;
}

/** An environment, a policy and a reward system, put together. */
export function createCoordinator({ groupSize }: { readonly groupSize: number }): Coordinator {
  const policy = scriptedBackend({ completions: answers, tokenizer });
  const manager = new RolloutManager(
    { environment: new SimpleTextEnvironment<Capital>(), sampler: policy, tokenizer },
    { groupSize, concurrency: 4, sampling: { maxTokens: 64 } },
  );
  const source = taskSource(tasks, { shuffle: 'none' });
  const system = createIntegratedRewardSystem({
    rewardConfig: { targetLength: 7, perplexityWeight: 0.2, lengthWeight: 0.2, accuracyWeight: 0.6 },
    minRewardThreshold: 0.9,
    strictFiltering: true,
    verificationThreshold: 0,
  });
  return {
    async collect() {
      const minTrajectories = tasks.length * groupSize;
      const trajectories = await manager.collectRollouts({
        tasks: source,
        minTrajectories,
        maxStepsPerRollout: 1,
      });
      return system.processBuffer(trajectories);
    },
    close: () => system.close(),
  };
}
