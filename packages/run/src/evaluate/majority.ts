/** Answers to one task, and whether they are right. */
export interface Votes {
  /** Answers in comparable form. `undefined` if a response has none: it does not vote. */
  readonly answers: readonly (string | undefined)[];
  readonly correct: readonly number[];
}

/**
 * Share of blocks of k responses whose most frequent answer is right (self-consistency). Blocks do not overlap. A tie counts the
 * share of its answers that are right, and a block without answers is wrong.
 *
 * @see Wang et al. 2023, https://arxiv.org/abs/2203.11171
 */
export function majorityAtK({ answers, correct }: Votes, k: number): number[] {
  const blocks: number[] = [];
  for (let from = 0; from + k <= answers.length; from += k) {
    blocks.push(winnersRight(answers.slice(from, from + k), correct.slice(from, from + k)));
  }
  return blocks;
}

function winnersRight(answers: readonly (string | undefined)[], correct: readonly number[]): number {
  const votes = new Map<string, { count: number; right: number }>();
  for (const [place, answer] of answers.entries()) {
    if (answer === undefined) continue;
    const vote = votes.get(answer) ?? { count: 0, right: correct[place]! };
    votes.set(answer, { ...vote, count: vote.count + 1 });
  }
  const most = Math.max(0, ...[...votes.values()].map(({ count }) => count));
  const winners = [...votes.values()].filter(({ count }) => count === most);
  return winners.reduce((sum, { right }) => sum + right, 0) / Math.max(1, winners.length);
}
