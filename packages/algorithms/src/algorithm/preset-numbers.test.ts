import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ScoredTrajectory, Step } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { gaeEstimator } from '../estimator/critic-estimators.ts';
import { reinforceEstimator } from '../estimator/return-estimators.ts';
import { groupRelativeEstimator, tokenEstimator } from '../loop/estimate.ts';
import { type RlOptions, resolveRlOptions } from '../loop/options.ts';
import type { AdvantageEstimator, ScoredGroup } from '../loop/protocol.ts';
import { tokenBatch } from '../loop/token-batch.ts';
import { scatterRows, trajectoryRows } from '../loop/trajectory-rows.ts';
import { algorithmPresets } from './presets.ts';

const shared = process.env.RLP_SHARED ?? fileURLToPath(new URL('../../../../../shared', import.meta.url));

interface Case {
  readonly id: string;
  readonly fn: string;
  readonly inputs: unknown;
  readonly params: {
    readonly gamma: number;
    readonly lam: number;
    readonly kl_coef: number;
    readonly kl_estimator: 'k1' | 'k3';
    readonly whiten_rewards: boolean;
    readonly n_samples_per_prompt: number;
    readonly no_std_norm: boolean;
  };
  readonly expected: { readonly advantages: number[][]; readonly returns: number[][] };
}

function casesOf(name: string): Case[] {
  const path = `${shared}/conformance/${name}.json`;
  if (existsSync(path)) return (JSON.parse(readFileSync(path, 'utf8')) as { cases: Case[] }).cases;
  console.log(`skipped: ${path} is not there`);
  return [];
}

/** What a project's code was given. Shape of each row: `[T]`. */
interface Rows {
  readonly scores: readonly number[];
  readonly masks: readonly (readonly number[])[];
  readonly values: readonly (readonly number[])[];
  /** ln π − ln π_ref. */
  readonly kl: readonly (readonly number[])[];
  readonly groupSize: number;
}

/** The turns of a row: a prompt of one token, then runs of answers with the environment's words between them. */
function stepsOf(mask: readonly number[]): Step[] {
  const tokens = [0, ...mask.keys()];
  const starts = [...mask.keys()].filter((t) => mask[t] !== 0 && (t === 0 || mask[t - 1] === 0));
  return starts.map((start) => {
    const end = mask.findIndex((counts, t) => t > start && counts === 0);
    const answer = tokens.slice(start + 1, end < 0 ? undefined : end + 1);
    return {
      promptTokens: tokens.slice(0, start + 1),
      tokens: answer,
      behaviorLogprobs: answer.map(() => -1),
      text: '',
      stopReason: 'stop',
    };
  });
}

/** Advantages and returns of the loop, for the tokens of each row. */
function throughTheLoop(estimator: AdvantageEstimator, options: RlOptions, given: Rows) {
  const resolved = resolveRlOptions(options);
  const scored = given.masks.map((mask, b): ScoredTrajectory => {
    const task = { id: 'task', prompt: '', metadata: undefined };
    const rest = { messages: [], response: '', status: 'completed', policyVersion: 0 } as const;
    return {
      trajectory: { id: String(b), task, steps: stepsOf(mask), ...rest },
      reward: given.scores[b]!,
      components: {},
    };
  });
  const groups = Array.from({ length: scored.length / given.groupSize }, (_, p): ScoredGroup => {
    const members = scored.slice(p * given.groupSize, (p + 1) * given.groupSize);
    const trajectories = members.map(({ trajectory }) => trajectory);
    return { group: { id: String(p), task: trajectories[0]!.task, trajectories }, scored: members };
  });
  const rows = trajectoryRows(groups, resolved);
  const aligned = (of: readonly (readonly number[])[]) =>
    rows.sequences.map(({ tokens }, b) =>
      Float64Array.from(tokens, (_, t) => (t === 0 ? 0 : of[b]![t - 1]!)),
    );
  const logprobs = aligned(given.kl).map((row) => ({ logprobs: row, entropies: row }));
  const zeros = logprobs.map(({ logprobs: row }) => ({ logprobs: row.map(() => 0), entropies: row }));
  const scores = {
    proximal: logprobs as never,
    reference: zeros as never,
    values: aligned(given.values).map((row) => [...row, 0]),
  };
  const { batch } = tokenBatch(
    { groups, rows, scores, klCoefficient: resolved.rewardKl!.coefficient },
    resolved,
  );
  const { advantages, returns } = tokenEstimator(estimator, resolved.rewardKl!.place).estimate(batch);
  const read = (of: typeof advantages) =>
    scatterRows('numbers', rows, of).map((row, b) =>
      given.masks[b]!.map((counts, t) => (counts === 0 ? 0 : row[t + 1]!)),
    );
  return { advantages: read(advantages), returns: returns && read(returns) };
}

function expectRows(
  id: string,
  got: readonly (readonly number[])[],
  expected: readonly (readonly number[])[],
  masks: Rows['masks'],
) {
  for (const [b, row] of expected.entries()) {
    for (const [t, value] of row.entries())
      if (masks[b]![t] !== 0) expect(got[b]![t], id).toBeCloseTo(value, 8);
  }
}

describe('the preset trl of PPO', () => {
  // Rows that fill their batch: on shorter ones TRL puts the score on the token after the last, whose value it reads.
  const cases = casesOf('gae_trl_ppo').filter(({ inputs, params }) => {
    const { sequence_lengths: last, logprobs } = inputs as {
      sequence_lengths: number[];
      logprobs: number[][];
    };
    return last.every((index) => index === logprobs[0]!.length - 1) && !params.whiten_rewards;
  });
  const check = ({ id, inputs, params, expected }: Case) => {
    const { logprobs, ref_logprobs, values, scores } = inputs as Record<string, number[][]>;
    const { gae, rewardKl } = algorithmPresets.ppo.trl;
    const { gamma: discount, lam: lambda, kl_coef: coefficient, kl_estimator: estimator } = params;
    const masks = logprobs!.map((row) => row.map(() => 1));
    const kl = logprobs!.map((row, b) => row.map((logprob, t) => logprob - ref_logprobs![b]![t]!));
    const got = throughTheLoop(
      gaeEstimator({ ...gae, discount, lambda }),
      { rewardKl: { ...rewardKl, coefficient, estimator } },
      { scores: scores as unknown as number[], masks, values: values!, kl, groupSize: 1 },
    );
    expectRows(id, got.advantages, expected.advantages, masks);
    expectRows(id, got.returns!, expected.returns, masks);
  };
  it.skipIf(cases.length === 0)('has the numbers of its advantages, KL in the reward', () => {
    expect(cases).toHaveLength(6);
    for (const each of cases) check(each);
  });
});

describe('the presets openrlhf', () => {
  const { ppo, reinforce, rloo, grpo } = algorithmPresets;
  type Make = (params: { gamma: number; lam: number; whitening: object }) => AdvantageEstimator;
  const makes: Readonly<Record<string, { readonly make: Make; readonly rewardKl: object }>> = {
    openrlhf_gae: {
      rewardKl: ppo.openrlhf.rewardKl,
      make: ({ gamma, lam, whitening }) =>
        gaeEstimator({
          ...ppo.openrlhf.gae,
          discount: gamma,
          lambda: lam,
          whitening: { ...ppo.openrlhf.gae.whitening, ...whitening },
        }),
    },
    openrlhf_reinforce: {
      rewardKl: reinforce.openrlhf.rewardKl,
      make: ({ gamma, whitening }) => {
        const own = reinforce.openrlhf.reinforce;
        return reinforceEstimator({
          ...own,
          discount: gamma,
          whitening: { ...own.whitening, ...whitening },
        });
      },
    },
    openrlhf_rloo: {
      rewardKl: rloo.openrlhf.rewardKl,
      make: () => groupRelativeEstimator(rloo.openrlhf.advantage),
    },
    openrlhf_group_norm: {
      rewardKl: grpo.openrlhf.rewardKl,
      make: () => groupRelativeEstimator(grpo.openrlhf.advantage),
    },
  };
  // Estimators that compare trajectories have no discount of ours, and groups of one no number of theirs.
  const cases = casesOf('advantages_openrlhf').filter(({ fn, params }) => {
    const isGrouped = fn === 'openrlhf_rloo' || fn === 'openrlhf_group_norm';
    return fn in makes && (!isGrouped || (params.gamma === 1 && params.n_samples_per_prompt > 1));
  });
  const check = ({ id, fn, inputs, params, expected }: Case) => {
    const { rewards, mask, kl, values } = inputs as Record<string, number[][]>;
    const { make, rewardKl } = makes[fn]!;
    const whitening = params.no_std_norm ? { scale: 'none' } : {};
    const estimator = make({ gamma: params.gamma, lam: params.lam, whitening });
    const got = throughTheLoop(
      estimator,
      { rewardKl: { ...rewardKl, coefficient: params.kl_coef } },
      {
        scores: rewards as unknown as number[],
        masks: mask!,
        values: values!,
        kl: kl!,
        groupSize: params.n_samples_per_prompt,
      },
    );
    expectRows(id, got.advantages, expected.advantages, mask!);
    if (got.returns) expectRows(id, got.returns, expected.returns, mask!);
  };
  it.skipIf(cases.length === 0)(
    'have the numbers of its advantages, KL in the reward, turns between masks',
    () => {
      expect(cases).toHaveLength(20);
      for (const each of cases) check(each);
    },
  );
});
