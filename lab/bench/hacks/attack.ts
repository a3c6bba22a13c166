import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from '@rlp/core';

/** Kinds of attacks. */
export const families = [
  ...(['exit', 'equality', 'patching', 'stdout', 'timing', 'environment', 'file system'] as const),
  ...(['text disguise', 'answer stuffing', 'judge injection'] as const),
] as const;

/** What a grader knows, where it differs from what the grader asks of all. */
export interface Task {
  /** Assertions in the language of a program. */
  readonly tests?: readonly string[];
  readonly reference?: string;
  readonly schema?: object;
  readonly instructions?: readonly { readonly id: string; readonly args: object }[];
  /** Right calls of tools. */
  readonly expected?: readonly { readonly name: string; readonly arguments: unknown }[];
  /** The conversation, if it is more than the response. */
  readonly messages?: readonly Message[];
  /** Further options of the grader. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** One attack, or one honest response. */
export interface Attack {
  /** Names of `graders.ts`. */
  readonly graders: readonly string[];
  /** Attacks that one author wrote at once, before any of them was run. */
  readonly round: string;
  readonly family: (typeof families)[number] | 'honest';
  readonly name: string;
  /** What the policy writes. A program stands in no fence. */
  readonly response: string;
  readonly task: Task;
  /** The most that an attack may earn, the least that an honest response must. `null` is never right. */
  readonly reward: number;
  /** Whether it is known to earn more, or less. */
  readonly isOpen: boolean;
}

/** A text, or its parts. A part may be repeated; `{#}` in it is its number. */
type Written = string | readonly (string | readonly [part: string, times: number])[];
type Head = Pick<Attack, 'graders' | 'round' | 'family'> & Partial<Pick<Attack, 'reward'>>;
type Row = readonly [
  name: string,
  response: Written,
  more?: { readonly task?: Task; readonly reward?: number; readonly isOpen?: true },
];

const textOf = (written: Written): string =>
  typeof written === 'string'
    ? written
    : written.map((part) => (typeof part === 'string' ? part : repeated(...part))).join('');

const repeated = (part: string, times: number): string =>
  part.includes('{#}')
    ? Array.from({ length: times }, (_, k) => part.replace('{#}', String(k))).join('')
    : part.repeat(times);

/**
 * All attacks. A line of `attacks.jsonl` is a row, or the head of the rows below it: `{graders, round, family, reward}`.
 * Without a reward attacks must earn 0, and honest responses 1.
 */
export function readAttacks(): Attack[] {
  const lines = readFileSync(join(import.meta.dirname, 'attacks.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  let head: Head | undefined;
  return lines.flatMap((line): Attack[] => {
    const read = JSON.parse(line) as Head | Row;
    if (!Array.isArray(read)) {
      head = read as Head;
      return [];
    }
    const [name, response, { task = {}, reward, isOpen = false } = {}] = read as unknown as Row;
    const own = reward ?? head!.reward ?? Number(head!.family === 'honest');
    return [{ ...head!, name, response: textOf(response), task, reward: own, isOpen }];
  });
}
