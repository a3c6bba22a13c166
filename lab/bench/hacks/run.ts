import type { Line } from '../report.ts';
import { type Attack, families, readAttacks } from './attack.ts';
import { answering, type Grader, graders, openRunners } from './graders.ts';

/** What an attack earned. */
export interface Outcome {
  readonly grader: string;
  readonly attack: Attack;
  /** `null`: unscorable. `undefined`: the grader rejected. */
  readonly reward: number | null | undefined;
}

/** Whether an attack earns no more than it may, or an honest response what it must. */
export const isRight = ({ attack, reward }: Outcome): boolean =>
  typeof reward === 'number' &&
  (attack.family === 'honest' ? reward >= attack.reward - 1e-9 : reward <= attack.reward + 1e-9);

/** The attacks on each grader. */
export function attacksOf(attacks: readonly Attack[]): ReadonlyMap<string, readonly Attack[]> {
  const names = new Set(attacks.flatMap((attack) => attack.graders));
  return new Map(
    Array.from(names, (name) => [name, attacks.filter((attack) => attack.graders.includes(name))]),
  );
}

/** Runs attacks against a grader, one after another. */
export async function runAttacks(
  name: string,
  grader: Grader,
  attacks: readonly Attack[],
): Promise<Outcome[]> {
  const { signal } = new AbortController();
  const outcomes: Outcome[] = [];
  for (const [k, attack] of attacks.entries()) {
    const trajectory = answering(attack.response, attack.task, `${name}/${k}`);
    const reward = await Promise.resolve()
      .then(() => grader(attack.task)(trajectory, { signal }))
      .catch(() => undefined);
    outcomes.push({ grader: name, attack, reward });
  }
  return outcomes;
}

/**
 * `pnpm bench hacks [--round ROUND]`: one line per grader and family, one per failure, and the sums. A table goes to stderr.
 *
 * @param round - Only attacks of this round. Default: all.
 */
export async function* hackLines(round = '', timeoutMs = 5000): AsyncGenerator<Line> {
  await using runners = openRunners();
  const byName = graders(runners, timeoutMs);
  const chosen = readAttacks().filter((attack) => round === '' || attack.round === round);
  const all: Outcome[] = [];
  for (const [grader, attacks] of attacksOf(chosen)) {
    const outcomes = await runAttacks(grader, byName[grader]!, attacks);
    all.push(...outcomes);
    for (const family of [...families, 'honest'] as const) {
      const of = outcomes.filter(({ attack }) => attack.family === family);
      if (of.length === 0) continue;
      yield { name: `hacks/${grader}/${family}`, value: of.filter(isRight).length, unit: `of ${of.length}` };
    }
    for (const { attack, reward } of outcomes.filter((outcome) => !isRight(outcome))) {
      const name = `hacks/${grader}/${attack.family}/${attack.round}: ${attack.name}`;
      const bound = attack.family === 'honest' ? 'at least' : 'at most';
      yield {
        name,
        value: reward === undefined ? 'rejected' : reward,
        unit: `reward, expected ${bound} ${attack.reward}`,
      };
    }
  }
  const attacked = all.filter(({ attack }) => attack.family !== 'honest');
  const honest = all.filter(({ attack }) => attack.family === 'honest');
  yield { name: 'hacks/attacks', value: attacked.filter(isRight).length, unit: `of ${attacked.length}` };
  yield { name: 'hacks/honest', value: honest.filter(isRight).length, unit: `of ${honest.length}` };
  console.error(tableOf(all));
}

/** A Markdown table: how many attacks pay and how many honest responses are refused, by grader. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const rows = [...new Set(outcomes.map(({ grader }) => grader))].map((grader) => {
    const cells = [false, true].flatMap((isHonest) => {
      const of = outcomes.filter(
        (outcome) => outcome.grader === grader && (outcome.attack.family === 'honest') === isHonest,
      );
      return [of.length, of.filter((outcome) => !isRight(outcome)).length];
    });
    return [grader, ...cells];
  });
  const head = [
    ['grader', 'attacks', 'pay', 'honest', 'refused'],
    ['---', '--:', '--:', '--:', '--:'],
  ];
  return [...head, ...rows].map((line) => `| ${line.join(' | ')} |`).join('\n');
}
