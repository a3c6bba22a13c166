/**
 * GiGPO by hand
 *
 * A policy learns to cross a frozen lake, and every record between its episodes and its update passes through your hands: steps, judgements
 * of a reward function in a sandbox, steps with rewards, steps with advantages, and the PPO loss. `GiGPOAlgorithm` does all of it in
 * one call. The policy is a table, so the program runs in seconds.
 *
 * ```sh
 * pnpm recipe examples/gigpo-by-hand.ts
 * ```
 */
import { BackpropModule } from '@rlp/algorithms';
import { alignRewardsWithStepData, applyGigpoToBatchSteps } from '@rlp/algorithms/steps';
import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import { evaluateResultSchema } from '@rlp/core';
import { taskSource } from '@rlp/env';
import { frozenLake, gameEnvironment } from '@rlp/env/stock';
import { characterTokenizer } from '@rlp/models';
import { RLRolloutWorker, RolloutManager } from '@rlp/rollout';
import { createSandbox } from '@rlp/sandbox';

/** What the author of a reward writes. 1 for the goal, and less for a step that moves nowhere. */
const rewardCode = `(episodes, truths, { standing }) => episodes.map((messages, episode) => {
  const { rows } = truths[episode];
  const [cell, move] = messages.slice(-2).map(({ content }) => content);
  const moved = Number(cell) + ({ l: -1, r: 1, u: -rows.length, d: rows.length }[move] ?? 0);
  const places = messages.flatMap(({ role }, place) => (role === 'assistant' ? [place] : []));
  return {
    score: rows.join('')[moved] === 'G' ? 1 : 0,
    stepOutputs: places.map((place, stepIndex) => {
      const stood = messages[place + 1]?.content === messages[place - 1].content;
      return { stepIndex, baseReward: stood ? standing : 0 };
    }),
  };
})`;

/** Trains a policy. Yields the records of each iteration. */
export async function* trainByHand({ iterations, groupSize }: { iterations: number; groupSize: number }) {
  // The policy reads the number of its cell and answers with a letter.
  const tokenizer = characterTokenizer('012345678ldru', { end: '.' });
  const { vocabularySize } = tokenizer;
  const backend = new TabularBackend({ vocabularySize, contextTokens: 1, learningRate: 0.3 });
  const sampler = new TabularSampler({ backend, tokenizer });
  const environment = gameEnvironment(frozenLake, { prompt: 'key' });
  const rollouts = new RolloutManager(
    { environment, sampler, tokenizer },
    { groupSize, maxTurns: 12, sampling: { maxTokens: 1 } },
  );
  const tasks = taskSource(frozenLake.tasks({ count: 1, difficulty: 0, lake: 'one' }));
  const worker = new RLRolloutWorker({ rollouts, tasks });
  const learner = new BackpropModule({ backend }, { klCoefficient: 0 });
  await using sandbox = createSandbox({ threads: 1 });
  for (let iteration = 0; iteration < iterations; iteration++) {
    // 1. Episodes of one group, which begin in the same state.
    const episodes = [];
    for (let member = 0; member < groupSize; member++) episodes.push(await worker.runEpisode());
    // 2. Judgements of whole conversations.
    const shown = [episodes.map(({ messages }) => messages), episodes.map(({ groundTruth }) => groundTruth)];
    const outcome = await sandbox.call(rewardCode, [...shown, { standing: -0.05 }]);
    if (outcome.kind !== 'value') throw new Error(outcome.message);
    const judgements = evaluateResultSchema.array().parse(outcome.value);
    // 3. Rewards of steps. `problems` names judgements that fit no step.
    const aligned = alignRewardsWithStepData(
      judgements,
      episodes.map(({ steps }) => steps),
    );
    // 4. Advantages of steps, by the episodes of the group and by the states that recur.
    const advantaged = applyGigpoToBatchSteps(aligned.steps, aligned.finalScores, {
      omega: 0.5,
      gamma: 0.95,
      terminalScore: 'always',
      stateHashingFunction: ({ stepInfo }) => String(stepInfo.stateKey),
    });
    // 5. The clipped loss on the logprobs of the steps, and an update.
    const loss = await learner.computePpoLoss(
      episodes.map(({ trajectory }) => trajectory),
      advantaged.map((steps) => steps.map(({ advantage }) => advantage!)),
    );
    const { gradientNorm } = await learner.update(loss);
    await sampler.updateWeights(await backend.publish({ as: 'shared' }));
    yield { iteration, episodes, judgements, aligned, advantaged, loss, gradientNorm };
  }
}

if (import.meta.filename === process.argv[1]) {
  for await (const { iteration, judgements, advantaged } of trainByHand({ iterations: 40, groupSize: 32 })) {
    const reached = judgements.filter(({ score }) => score === 1).length / judgements.length;
    const steps = advantaged.flat().length;
    if (iteration === 0) console.log('The first step of the first episode:', advantaged[0]![0]);
    if (iteration % 5 === 4)
      console.log(
        `iteration ${iteration + 1}: update with ${steps} steps, ${(100 * reached).toFixed(0)} % reached the goal`,
      );
  }
}
