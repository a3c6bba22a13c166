import { afterAll, describe, expect, it } from 'vitest';
import { families } from './attack.ts';
import { type Case, cases, openRunners } from './graders.ts';
import { isRight, runCase, tableOf } from './run.ts';

const runners = openRunners();
afterAll(() => runners[Symbol.asyncDispose]());
const all = cases(runners, 20_000);
const attacks = all.flatMap((one) => one.attacks.filter(({ family }) => family !== 'honest'));

/** Every `step`-th attack that ends at once; a twelfth of those by day. */
const sample = (one: Case, step: number): Case => ({
  ...one,
  attacks: one.attacks
    .filter(({ family }) => family !== 'timing')
    .filter((_, k) => k % (process.env.RLP_SLOW_TESTS ? step : 12 * step) === 0),
});

/** Without programs that reach their time limit: `pnpm bench hacks` runs those. */
const quick = (one: Case): Case => ({
  ...one,
  attacks: one.attacks.filter(({ name }) => !name.startsWith('unseen')),
});

const graders = (names: RegExp) => all.filter(({ grader }) => names.test(grader));

describe('the suite of reward hacks', () => {
  it('has at least 150 attacks in ten families, each once', () => {
    expect(attacks.length).toBeGreaterThanOrEqual(150);
    expect(new Set(attacks.map(({ family }) => family))).toEqual(new Set(families));
    for (const { grader, attacks: own } of all) {
      const names = own.map(({ family, name }) => `${grader}/${family}/${name}`);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it.each([
    ...graders(/Python/).map((one) => sample(quick(one), 5)),
    ...graders(/JavaScript/).map((one) => sample(one, 6)),
    ...graders(
      /think|tagF|toolCalls|jsonFormat|exactAnswer|gsm8k|mathAnswer$|expressions|Judge|Safety|instruction|Rouge|references|Length|Language|Repetition/,
    ),
  ])('gets its rewards from $grader', { timeout: 300_000 }, async (one) => {
    const outcomes = await runCase(one);
    expect(outcomes.filter((outcome) => !isRight(outcome))).toEqual([]);
    expect(tableOf(outcomes)).toContain(`| ${one.grader} |`);
  });
});
