/**
 * GRPO in one file
 *
 * A policy learns to add two digits. It is told only whether an answer was right. Everything is here: tasks, policy, sampling,
 * rewards, advantages, the clipped surrogate with its gradient, and the loop. A table of logits stands for the network, because
 * it has the same gradient at its softmax and learns in a second. A test checks that the numbers equal the library's.
 *
 * ```sh
 * pnpm recipe examples/grpo-in-one-file.ts
 * ```
 */
import { RandomStream } from '@rlp/core';

// ── Tasks: "3+4=", to be answered with two digits, "07" ──────────────────────────────────────────────────────────

interface Task {
  readonly prompt: string;
  readonly answer: string;
}

const vocabulary = '0123456789+=';

/** Some of the sums of two digits below 5, in a random order that depends on the iteration. */
function tasksOf(iteration: number, count: number): Task[] {
  const pairs = Array.from({ length: 25 }, (_, index) => [index % 5, Math.floor(index / 5)] as const);
  return RandomStream.named('tasks', iteration)
    .shuffle(pairs)
    .slice(0, count)
    .map(([a, b]) => ({ prompt: `${a}+${b}=`, answer: String(a + b).padStart(2, '0') }));
}

/** 1 for the right answer, and a little for its first digit, so that wrong answers differ. */
function reward(response: string, { answer }: Task): number {
  if (response === answer) return 1;
  return response[0] === answer[0] ? 0.2 : 0;
}

// ── Policy: a row of logits for each context ─────────────────────────────────────────────────────────────────────

interface Token {
  readonly context: string;
  readonly token: number;
}

export class TablePolicy {
  readonly #rows = new Map<string, Float64Array>();

  #row(context: string): Float64Array {
    const row = this.#rows.get(context) ?? new Float64Array(vocabulary.length);
    this.#rows.set(context, row);
    return row;
  }

  /** `ln π(· | context)`: log-softmax of the row. */
  logprobs(context: string): number[] {
    const row = this.#row(context);
    const largest = Math.max(...row);
    const normalizer = largest + Math.log(row.reduce((sum, logit) => sum + Math.exp(logit - largest), 0));
    return Array.from(row, (logit) => logit - normalizer);
  }

  /** Draws two tokens by inverse CDF. */
  sample(prompt: string, random: RandomStream): (Token & { readonly behaviorLogprob: number })[] {
    const drawn = [];
    for (let context = prompt; drawn.length < 2; context += vocabulary[drawn.at(-1)?.token ?? 0]) {
      const logprobs = this.logprobs(context);
      let rest = random.uniform();
      let token = 0;
      while (token < logprobs.length - 1 && rest >= Math.exp(logprobs[token]!)) {
        rest -= Math.exp(logprobs[token]!);
        token += 1;
      }
      drawn.push({ context, token, behaviorLogprob: logprobs[token]! });
    }
    return drawn;
  }

  /** A step of gradient descent. By the chain rule, `∂L/∂logit_j = ∂L/∂logprob · (1[j = token] − π(j))`. */
  update(gradients: readonly (Token & { readonly gradient: number })[], learningRate: number): void {
    const changes = gradients.map(({ context, token, gradient }) => ({
      row: this.#row(context),
      slope: this.logprobs(context).map((logprob, j) => (j === token ? 1 : 0) - Math.exp(logprob)),
      scale: -learningRate * gradient,
    }));
    for (const { row, slope, scale } of changes) for (const [j, x] of slope.entries()) row[j]! += scale * x;
  }
}

// ── Advantages: better or worse than the other answers of the group ──────────────────────────────────────────────

/** `A_g = (r_g − mean r) / (std r + 1e-6)` with the unbiased deviation. A group of equal rewards teaches nothing. */
export function groupAdvantages(rewards: readonly number[]): number[] {
  if (rewards.every((value) => value === rewards[0])) return rewards.map(() => 0);
  const mean = rewards.reduce((sum, value) => sum + value, 0) / rewards.length;
  const variance = rewards.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (rewards.length - 1);
  return rewards.map((value) => (value - mean) / (Math.sqrt(variance) + 1e-6));
}

// ── Loss: the clipped surrogate ──────────────────────────────────────────────────────────────────────────────────

export const clip = { low: 0.2, high: 0.28 };

/**
 * `L = −min(ρA, clip(ρ, 1 − low, 1 + high)·A)` with `ρ = exp(logprob − behaviorLogprob)`, and `∂L/∂logprob`. If the clipped
 * term is smaller, the ratio has gone far enough and the gradient is 0. Otherwise it is `−ρA`.
 */
export function surrogate(logprob: number, behaviorLogprob: number, advantage: number) {
  const ratio = Math.exp(logprob - behaviorLogprob);
  const clipped = Math.min(Math.max(ratio, 1 - clip.low), 1 + clip.high) * advantage;
  const isClipped = clipped < ratio * advantage;
  return { loss: isClipped ? -clipped : -ratio * advantage, gradient: isClipped ? 0 : -ratio * advantage };
}

// ── The loop ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** Trains a policy. Yields the share of right answers of each iteration. */
export function* grpo(policy: TablePolicy, { iterations }: { readonly iterations: number }) {
  for (let iteration = 0; iteration < iterations; iteration++) {
    const groups = tasksOf(iteration, 8).map((task) => {
      const answers = Array.from({ length: 16 }, (_, member) =>
        policy.sample(task.prompt, RandomStream.named(iteration, task.prompt, member)),
      );
      const rewards = answers.map((tokens) =>
        reward(tokens.map(({ token }) => vocabulary[token]).join(''), task),
      );
      return { answers, rewards, advantages: groupAdvantages(rewards) };
    });
    const tokens = groups.flatMap(({ answers, advantages }) =>
      answers.flatMap((answer, g) => answer.map((sampled) => ({ ...sampled, advantage: advantages[g]! }))),
    );
    for (let epoch = 0; epoch < 2; epoch++) {
      const gradients = tokens.map(({ context, token, behaviorLogprob, advantage }) => {
        const logprob = policy.logprobs(context)[token]!;
        const { gradient } = surrogate(logprob, behaviorLogprob, advantage);
        return { context, token, gradient: gradient / tokens.length };
      });
      policy.update(gradients, 30);
    }
    const rewards = groups.flatMap((group) => group.rewards);
    yield { iteration, accuracy: rewards.filter((value) => value === 1).length / rewards.length };
  }
}

if (import.meta.filename === process.argv[1]) {
  for (const { iteration, accuracy } of grpo(new TablePolicy(), { iterations: 150 }))
    if (iteration % 10 === 9)
      console.log(`iteration ${iteration + 1}: ${(100 * accuracy).toFixed(1)} % right`);
}
