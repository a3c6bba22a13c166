/** The metrics of the training loops. See `docs/metrics.md`. Fractions lie between 0 and 1. */
export interface KnownMetrics {
  /** Mean reward of all scored trajectories. */
  readonly 'reward/mean'?: number;
  /** Population standard deviation of the rewards. */
  readonly 'reward/std'?: number;
  /** Smallest reward. */
  readonly 'reward/min'?: number;
  /** Largest reward. */
  readonly 'reward/max'?: number;
  /** Groups collected, replacements included. */
  readonly 'groups/count'?: number;
  /** Groups whose rewards are all equal. */
  readonly 'groups/zero-variance'?: number;
  /** Groups that `groupFilter` rejected. */
  readonly 'groups/rejected'?: number;
  /** Rounds of collection, if groups were replaced. */
  readonly 'groups/rounds'?: number;
  /** Trajectories collected. */
  readonly 'trajectories/count'?: number;
  /** Trajectories without a reward. */
  readonly 'trajectories/unscored'?: number;
  /** Fraction of trajectories that a limit cut. */
  readonly 'trajectories/truncated'?: number;
  /** Fraction of trajectories that failed. */
  readonly 'trajectories/failed'?: number;
  /** Mean responses per trajectory. */
  readonly 'trajectories/steps'?: number;
  /** Mean sampled tokens per trajectory. */
  readonly 'response/tokens'?: number;
  /** Largest number of sampled tokens. */
  readonly 'response/tokens-max'?: number;
  /** Optimizer steps of the iteration. */
  readonly 'update/count'?: number;
  /** Minibatches skipped by `targetKl`. */
  readonly 'update/skipped'?: number;
  /** Tokens with a loss. */
  readonly 'tokens/trained'?: number;
  /** Tokens that passed through the policy. */
  readonly 'tokens/computed'?: number;
  /** Mean loss of the policy's updates. */
  readonly 'loss/policy'?: number;
  /** Mean cross-entropy of supervised fine-tuning, in nats. */
  readonly 'loss/sft'?: number;
  /** Loss of preference training, averaged over pairs or sequences. */
  readonly 'loss/preference'?: number;
  /** Loss of a reward model's training, averaged over pairs. */
  readonly 'loss/reward-model'?: number;
  /** Mean implicit reward of preferred completions: β · ln(π / π_reference). */
  readonly 'reward/chosen'?: number;
  /** Mean implicit reward of rejected completions. */
  readonly 'reward/rejected'?: number;
  /** Mean reward of preferred completions minus that of rejected ones. */
  readonly 'reward/margin'?: number;
  /** Fraction of pairs whose preferred completion has the larger reward. */
  readonly 'reward/accuracy'?: number;
  /** Mean log-probability of whole preferred completions, in nats. */
  readonly 'logprobs/chosen'?: number;
  /** Mean log-probability of whole rejected completions, in nats. */
  readonly 'logprobs/rejected'?: number;
  /** With KTO: mean ln π − ln π_reference over completions of other prompts, at least 0. */
  readonly 'kl/mismatched'?: number;
  /** Mean value loss, before its coefficient. */
  readonly 'loss/value'?: number;
  /** Fraction of tokens whose clipped value error decides. */
  readonly 'clip/value'?: number;
  /** Mean of the critic's values before the updates. */
  readonly 'value/mean'?: number;
  /** Mean of the returns that the critic learns. */
  readonly 'value/returns'?: number;
  /** Share of the returns' variance that the critic explains. */
  readonly 'value/explained-variance'?: number;
  /** Optimizer steps of a separate critic. */
  readonly 'update/critic-count'?: number;
  /** Gradient norm of a separate critic. */
  readonly 'gradient/critic-norm'?: number;
  /** Updates of a separate critic that were left out because the gradient overflowed. */
  readonly 'update/critic-overflowed'?: number;
  /** Learning rate of a separate critic. */
  readonly 'learning-rate/critic'?: number;
  /** Mean global L2 norm of the gradient, before clipping. */
  readonly 'gradient/norm'?: number;
  /** Updates that were left out because the gradient overflowed in mixed precision. */
  readonly 'update/overflowed'?: number;
  /** Learning rate of the last update. */
  readonly 'learning-rate'?: number;
  /** Estimate of the sampler's entropy per token, in nats. */
  readonly 'entropy/estimate'?: number;
  /** Exact mean entropy of the policy, in nats. */
  readonly 'entropy/mean'?: number;
  /** Mean importance ratio over trained tokens. */
  readonly 'ratio/mean'?: number;
  /** Fraction of tokens stopped by the lower bound. */
  readonly 'clip/low'?: number;
  /** Fraction of tokens stopped by the upper bound. */
  readonly 'clip/high'?: number;
  /** Fraction of tokens capped by `dualClip`. */
  readonly 'clip/dual'?: number;
  /** How far the iteration's updates moved the policy, in nats. */
  readonly 'kl/update'?: number;
  /** KL to the reference policy, in nats. */
  readonly 'kl/reference'?: number;
  /** Mean KL subtracted from the rewards, in nats. */
  readonly 'kl/reward'?: number;
  /** KL coefficient of the iteration, if a controller moves it. */
  readonly 'kl/coefficient'?: number;
  /** Entropy coefficient of the iteration, if a controller moves it. */
  readonly 'entropy/coefficient'?: number;
  /** Mean of the trainer's logprobs minus the sampler's, in nats. */
  readonly 'gap/sampler'?: number;
  /** Mean absolute difference of those logprobs, in nats. */
  readonly 'gap/absolute'?: number;
  /** Largest age of the sampling weights, in versions. */
  readonly 'staleness/max'?: number;
  /** With `lookAhead`: mean difference between the newest weight version and the one that sampled. */
  readonly 'staleness/mean'?: number;
  /** With `lookAhead`: fraction of trajectories whose steps have several versions. */
  readonly 'staleness/mixed'?: number;
  /** Duration of rollouts and rewards, in milliseconds. */
  readonly 'time/collect'?: number;
  /** Duration of the updates, in milliseconds. */
  readonly 'time/learn'?: number;
  /** Duration of publishing the weights, in milliseconds. */
  readonly 'time/publish'?: number;
  /** Duration of the monitor, in milliseconds. */
  readonly 'time/monitor'?: number;
  /** Findings of the monitor in this batch. */
  readonly 'monitor/findings'?: number;
  /** Interventions the monitor asked for. */
  readonly 'monitor/interventions'?: number;
}

/**
 * Numbers by name, such as `reward/mean`. The names of {@link KnownMetrics} complete in an editor. Others are allowed.
 *
 * A metric whose inputs are missing is absent, never 0.
 */
export type Metrics = KnownMetrics & Readonly<Record<string, number>>;
