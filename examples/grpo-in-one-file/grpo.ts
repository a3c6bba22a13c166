/**
 * GRPO in one file, to be read from top to bottom.
 *
 * A policy learns to add two digits by being told only whether an answer was right. Everything is here: the tasks, the
 * policy, sampling, rewards, advantages, the clipped surrogate with its gradient, and the loop. The words are those of
 * `@rlp/core`, so each part can be swapped for the library's; `grpo.test.ts` checks that the numbers are the library's.
 *
 * What is left out, and why:
 * - a neural network: a table of logits, one row per context, has the same gradient at its softmax and learns in a second;
 * - the KL to a reference policy: there is no pretrained knowledge to keep;
 * - the correction of the sampler–trainer gap: sampler and trainer are one program here, so there is none;
 * - a critic: that GRPO needs none is its point.
 *
 * Run it: pnpm start
 */
import {
  type Completion,
  RandomStream,
  type RewardFunction,
  type SampleRequest,
  type Sampler,
  type Step,
  type Task,
  type TokenId,
  type Trajectory,
  type TrajectoryGroup,
} from '@rlp/core';

// ── Tasks: "3+4=", to be answered with two digits, "07" ──────────────────────────────────────────────────────────

interface Answer {
  readonly answer: string;
}

const vocabulary = '0123456789+=';
const encode = (text: string): TokenId[] => [...text].map((character) => vocabulary.indexOf(character));
const decode = (tokens: readonly TokenId[]): string => tokens.map((token) => vocabulary[token]!).join('');

/** Every sum of two digits below 5, in a random order that depends on the iteration. */
function tasksOf(iteration: number, count: number): Task<Answer>[] {
  const pairs = Array.from({ length: 25 }, (_, index) => [index % 5, Math.floor(index / 5)] as const);
  return RandomStream.named('tasks', iteration)
    .shuffle(pairs)
    .slice(0, count)
    .map(([a, b]) => ({
      id: `${a}+${b}`,
      prompt: `${a}+${b}=`,
      metadata: { answer: String(a + b).padStart(2, '0') },
    }));
}

/** 1 for the right answer, and a little for its first digit: something to tell wrong answers apart by. */
const reward: RewardFunction<Answer> = ({ response, task }) => {
  if (response === task.metadata.answer) return 1;
  return response[0] === task.metadata.answer[0] ? 0.2 : 0;
};

// ── Policy: a row of logits for each context ─────────────────────────────────────────────────────────────────────

/** A softmax policy over a table. It samples as every `Sampler` of the library does. */
export class TablePolicy implements Sampler {
  policyVersion = 0;
  readonly #rows = new Map<string, Float64Array>();

  #row(context: readonly TokenId[]): Float64Array {
    const key = decode(context);
    let row = this.#rows.get(key);
    if (row === undefined) {
      row = new Float64Array(vocabulary.length);
      this.#rows.set(key, row);
    }
    return row;
  }

  /** `ln π(· | context)`: log-softmax of the row. */
  logprobs(context: readonly TokenId[]): number[] {
    const row = this.#row(context);
    const largest = Math.max(...row);
    const normalizer = largest + Math.log(row.reduce((sum, logit) => sum + Math.exp(logit - largest), 0));
    return Array.from(row, (logit) => logit - normalizer);
  }

  /** Draws token after token by inverse CDF. Member `m` has the random stream `(seed, m)`, whatever else is sampled. */
  async sample({ prompt, count, maxTokens, seed }: SampleRequest): Promise<readonly Completion[]> {
    return Array.from({ length: count }, (_, member) => {
      const random = RandomStream.named(seed, member);
      const tokens: TokenId[] = [];
      const behaviorLogprobs: number[] = [];
      while (tokens.length < maxTokens) {
        const logprobs = this.logprobs([...prompt, ...tokens]);
        let rest = random.uniform();
        let token = 0;
        while (token < logprobs.length - 1 && rest >= Math.exp(logprobs[token]!)) {
          rest -= Math.exp(logprobs[token]!);
          token += 1;
        }
        tokens.push(token);
        behaviorLogprobs.push(logprobs[token]!);
      }
      const { policyVersion } = this;
      return { tokens, behaviorLogprobs, text: decode(tokens), stopReason: 'length', policyVersion };
    });
  }

  /**
   * One step of gradient descent along the derivatives of a loss by the logprobs of sampled tokens. By the chain rule
   * through log-softmax, `∂L/∂logit_j = ∂L/∂logprob · (1[j = token] − π(j))`.
   */
  update(gradients: readonly TokenGradient[], learningRate: number): void {
    const changes = gradients.map(({ context, token, gradient }) => {
      const slope = this.logprobs(context).map((logprob, j) => (j === token ? 1 : 0) - Math.exp(logprob));
      return { row: this.#row(context), change: slope.map((x) => -learningRate * gradient * x) };
    });
    for (const { row, change } of changes) {
      for (const [j, amount] of change.entries()) row[j]! += amount;
    }
    this.policyVersion += 1;
  }
}

/** `∂L/∂logprob` of one sampled token. */
interface TokenGradient {
  readonly context: readonly TokenId[];
  readonly token: TokenId;
  readonly gradient: number;
}

// ── Rollout: G answers to each task ──────────────────────────────────────────────────────────────────────────────

async function collect(policy: Sampler, task: Task<Answer>, iteration: number, size: number) {
  const prompt = encode(String(task.prompt));
  const id = `${iteration}/${task.id}`;
  const completions = await policy.sample({ prompt, count: size, maxTokens: 2, seed: id });
  const trajectories = completions.map((completion, member): Trajectory<Answer> => {
    const { tokens, behaviorLogprobs, text, stopReason, policyVersion } = completion;
    const step: Step = { promptTokens: prompt, tokens, behaviorLogprobs, text, stopReason };
    const group = { id, member };
    return {
      id: `${id}/${member}`,
      task,
      steps: [step],
      messages: [],
      response: text,
      status: 'completed',
      policyVersion,
      group,
    };
  });
  return { id, task, trajectories } satisfies TrajectoryGroup<Answer>;
}

// ── Advantages: better or worse than one's siblings ──────────────────────────────────────────────────────────────

/** `A_g = (r_g − mean r) / (std r + 1e-6)` with the unbiased deviation. A group that agrees teaches nothing. */
export function groupAdvantages(rewards: readonly number[]): number[] {
  if (rewards.every((value) => value === rewards[0])) return rewards.map(() => 0);
  const mean = rewards.reduce((sum, value) => sum + value, 0) / rewards.length;
  const variance = rewards.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (rewards.length - 1);
  return rewards.map((value) => (value - mean) / (Math.sqrt(variance) + 1e-6));
}

// ── Loss: the clipped surrogate ──────────────────────────────────────────────────────────────────────────────────

export const clip = { low: 0.2, high: 0.28 };

/**
 * `L = −min(ρA, clip(ρ, 1 − low, 1 + high)·A)` with `ρ = exp(logprob − behaviorLogprob)`, and `∂L/∂logprob`.
 *
 * Where the clipped term is the smaller one, the ratio has gone far enough in the direction that the advantage asks for,
 * and the gradient is 0; elsewhere it is `−ρA`.
 */
export function surrogate(logprob: number, behaviorLogprob: number, advantage: number) {
  const ratio = Math.exp(logprob - behaviorLogprob);
  const clipped = Math.min(Math.max(ratio, 1 - clip.low), 1 + clip.high);
  const isClipped = clipped * advantage < ratio * advantage;
  return {
    loss: -Math.min(ratio * advantage, clipped * advantage),
    gradient: isClipped ? 0 : -ratio * advantage,
  };
}

/** The loss of all sampled tokens, averaged over them, with the gradient by each one's logprob. */
export function batchLoss(
  policy: TablePolicy,
  batch: readonly { readonly trajectory: Trajectory<Answer>; readonly advantage: number }[],
): { loss: number; gradients: TokenGradient[] } {
  const tokens = batch.flatMap(({ trajectory, advantage }) =>
    trajectory.steps.flatMap((step) =>
      step.tokens.map((token, t) => {
        const context = [...step.promptTokens, ...step.tokens.slice(0, t)];
        const logprob = policy.logprobs(context)[token]!;
        return { context, token, ...surrogate(logprob, step.behaviorLogprobs[t]!, advantage) };
      }),
    ),
  );
  return {
    loss: tokens.reduce((sum, { loss }) => sum + loss, 0) / tokens.length,
    gradients: tokens.map(({ context, token, gradient }) => ({
      context,
      token,
      gradient: gradient / tokens.length,
    })),
  };
}

// ── The loop ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** Trains a policy; yields the share of right answers of each iteration. */
export async function* grpo(policy: TablePolicy, options: { readonly iterations: number }) {
  const { signal } = new AbortController();
  for (let iteration = 0; iteration < options.iterations; iteration++) {
    const groups = await Promise.all(
      tasksOf(iteration, 8).map((task) => collect(policy, task, iteration, 16)),
    );
    const rewards = await Promise.all(
      groups.map(({ trajectories }) =>
        Promise.all(trajectories.map(async (trajectory) => (await reward(trajectory, { signal })) ?? 0)),
      ),
    );
    const batch = groups.flatMap(({ trajectories }, p) => {
      const advantages = groupAdvantages(rewards[p]!);
      return trajectories.map((trajectory, g) => ({ trajectory, advantage: advantages[g]! }));
    });
    for (let epoch = 0; epoch < 2; epoch++) policy.update(batchLoss(policy, batch).gradients, 30);
    const answers = rewards.flat();
    yield { iteration, accuracy: answers.filter((value) => value === 1).length / answers.length };
  }
}

if (import.meta.filename === process.argv[1]) {
  for await (const { iteration, accuracy } of grpo(new TablePolicy(), { iterations: 150 })) {
    if (iteration % 10 === 9)
      console.log(`iteration ${iteration + 1}: ${(100 * accuracy).toFixed(1)} % right`);
  }
}
