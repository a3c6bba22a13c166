import type { Line } from '../report.ts';
import { type Attack, families } from './attack.ts';
import { answering, type Case, cases, openRunners } from './graders.ts';

/** What an attack earned. */
export interface Outcome {
  readonly grader: string;
  readonly attack: Attack;
  /** `null`: unscorable. `undefined`: the grader rejected. */
  readonly reward: number | null | undefined;
}

/** Whether the reward is the one that the attack must get. */
export const isRight = ({ attack, reward }: Outcome): boolean =>
  typeof reward === 'number' && Math.abs(reward - attack.reward) < 1e-9;

/** Runs attacks against a grader, one after another. */
export async function runCase({ grader, attacks, reward }: Case): Promise<Outcome[]> {
  const { signal } = new AbortController();
  const outcomes: Outcome[] = [];
  for (const [k, attack] of attacks.entries()) {
    const trajectory = answering(attack.response, attack.task, `${grader}/${k}`);
    const earned = await Promise.resolve()
      .then(() => reward(trajectory, { signal }))
      .catch(() => undefined);
    outcomes.push({ grader, attack, reward: earned });
  }
  return outcomes;
}

/** `pnpm bench hacks`: one line per grader and family, one per failure, and the sums. A table goes to stderr. */
export async function* hackLines(timeoutMs = 5000): AsyncGenerator<Line> {
  await using runners = openRunners();
  const all: Outcome[] = [];
  for (const one of cases(runners, timeoutMs)) {
    const outcomes = await runCase(one);
    all.push(...outcomes);
    for (const family of [...families, 'honest'] as const) {
      const of = outcomes.filter(({ attack }) => attack.family === family);
      if (of.length === 0) continue;
      yield {
        name: `hacks/${one.grader}/${family}`,
        value: of.filter(isRight).length,
        unit: `of ${of.length}`,
      };
    }
    for (const { attack, reward } of outcomes.filter((outcome) => !isRight(outcome))) {
      const name = `hacks/${one.grader}/${attack.family}/${attack.name}`;
      yield {
        name,
        value: reward === undefined ? 'rejected' : reward,
        unit: `reward, expected ${attack.reward}`,
      };
    }
  }
  const attacked = all.filter(({ attack }) => attack.family !== 'honest');
  const honest = all.filter(({ attack }) => attack.family === 'honest');
  yield { name: 'hacks/attacks', value: attacked.filter(isRight).length, unit: `of ${attacked.length}` };
  yield { name: 'hacks/honest', value: honest.filter(isRight).length, unit: `of ${honest.length}` };
  console.error(tableOf(all));
}

/** A Markdown table: graders by families. Each cell has the share of right rewards. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const columns = [...families, 'honest'] as const;
  const cell = (of: readonly Outcome[]) =>
    of.length === 0 ? '' : `${of.filter(isRight).length}/${of.length}`;
  const rows = [...new Set(outcomes.map(({ grader }) => grader))].map((grader) => {
    const of = outcomes.filter((outcome) => outcome.grader === grader);
    return [grader, ...columns.map((family) => cell(of.filter(({ attack }) => attack.family === family)))];
  });
  const lines = [['grader', ...columns], ['---', ...columns.map(() => '--:')], ...rows];
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
}
