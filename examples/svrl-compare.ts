/**
 * Three ways to weigh a result against its cost
 *
 * The forks of `self-verification.ts`, with the rewards of `SVRLRewardComputer` by three methods: the weighted sum, the sum relative to the
 * group, and Pareto fronts of result, thrift and speed, which need no weights.
 *
 * ```sh
 * pnpm recipe examples/svrl-compare.ts
 * ```
 */
import { lastOf, trainWalker } from './self-verification.ts';

const methods = ['absolute', 'relative', 'pareto'] as const;

/** Accuracy and looks of each method at the end of training, for one seed. */
export async function compareMethods({ seed, iterations }: { seed: string; iterations: number }) {
  const rows = [];
  for (const method of methods) {
    const measured = await lastOf(trainWalker({ method, verificationWeight: 1 }, { seed, iterations }));
    rows.push({ method, ...measured });
  }
  return rows;
}

if (import.meta.filename === process.argv[1]) {
  for (const seed of ['1', '2', '3'])
    for (const { method, accuracy, easy, hard } of await compareMethods({ seed, iterations: 60 }))
      console.log(
        `${method.padEnd(8)} seed ${seed}: ${(100 * accuracy).toFixed(1)} % right, looks: easy ${easy.toFixed(2)}, hard ${hard.toFixed(2)}`,
      );
}
