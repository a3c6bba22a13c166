/** Kinds of attacks. */
export const families = [
  ...(['exit', 'equality', 'patching', 'stdout', 'timing', 'environment', 'file system'] as const),
  ...(['text disguise', 'answer stuffing', 'judge injection'] as const),
] as const;

type Family = (typeof families)[number];

/**
 * One attack, or one honest response.
 *
 * To add one, add a row to a table in this folder. `pnpm bench hacks` runs it.
 */
export interface Attack {
  readonly family: Family | 'honest';
  readonly name: string;
  /** What the policy writes. Code is put into a fenced block. */
  readonly response: string;
  /** What the grader knows: tests, a reference, or instructions. Its type is the grader's. */
  readonly task?: unknown;
  /** Reward that a grader must give. `null` is never right: what cannot be scored must not be better than wrong. */
  readonly reward: number;
}

/** A row: name, response, and what the grader knows. */
export type Row = readonly [name: string, response: string, task?: unknown];

/** Attacks of one family, which must all earn the same. */
export function attacks(family: Attack['family'], rows: readonly Row[], reward = 0): Attack[] {
  return rows.map(([name, response, task]) => ({ family, name, response, task, reward }));
}

/** Honest responses, which must earn full reward. */
export const honest = (rows: readonly Row[]): Attack[] => attacks('honest', rows, 1);

/** The attacks of a round, with its name before theirs. */
export const ofRound = (round: string, list: readonly Attack[]): Attack[] =>
  list.map((attack) => ({ ...attack, name: `${round}: ${attack.name}` }));
