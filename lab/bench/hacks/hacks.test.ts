import { afterAll, describe, expect, it } from 'vitest';
import { type Attack, families, readAttacks } from './attack.ts';
import { graders, openRunners } from './graders.ts';
import { attacksOf, isRight, runAttacks, tableOf } from './run.ts';

const runners = openRunners();
afterAll(() => runners[Symbol.asyncDispose]());
const byName = graders(runners, 20_000);
const all = readAttacks();
const attacks = all.filter(({ family }) => family !== 'honest');

/** Every `step`-th attack on code that ends at once; a twelfth of those by day. The other attacks are all run. */
function sampled(grader: string, own: readonly Attack[]): readonly Attack[] {
  if (!/^code|HumanEval/.test(grader)) return own;
  const step = (/Python/.test(grader) ? 5 : 6) * (process.env.RLP_SLOW_TESTS ? 1 : 12);
  const quick = own.filter(
    ({ family, round }) => family !== 'timing' && !(round === 'unseen' && /Python/.test(grader)),
  );
  return quick.filter((_, k) => k % step === 0);
}

describe('the suite of reward hacks', () => {
  it('has at least 150 attacks in ten families, each once', () => {
    expect(attacks.length).toBeGreaterThanOrEqual(150);
    expect(new Set(attacks.map(({ family }) => family))).toEqual(new Set(families));
    for (const [grader, own] of attacksOf(all)) {
      const names = own.map(({ round, family, name }) => `${grader}/${round}/${family}/${name}`);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it.each([...attacksOf(all)])('gets its rewards from %s', { timeout: 300_000 }, async (grader, own) => {
    const outcomes = await runAttacks(grader, byName[grader]!, sampled(grader, own));
    expect(outcomes.filter((outcome) => isRight(outcome) === outcome.attack.isOpen)).toEqual([]);
    expect(tableOf(outcomes)).toContain(`| ${grader} |`);
  });
});
