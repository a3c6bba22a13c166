import type { JudgeSession, JudgeStatistics } from './session.ts';
import type { JudgeTemplate } from './template.ts';

/** Which of two responses is better. `neither`: the verdict failed and `worstScoreFor` names the cause. `null`: the orders disagree. */
export type PairWinner = 'first' | 'second' | 'tie' | 'neither' | null;

/** Counts of a pairwise judge. */
export interface PairwiseStatistics extends JudgeStatistics {
  /** Pairs with a verdict in both orders. */
  readonly compared: number;
  /** Of these, pairs judged alike in both orders. */
  readonly consistent: number;
  /** Of these, pairs in which both orders chose what was shown first, or both what was shown second. */
  readonly favouredFirst: number;
  readonly favouredSecond: number;
  /** `(favouredFirst − favouredSecond) / compared`: 0 without bias, 1 if the first shown always wins. `null` before any pair. */
  readonly positionBias: number | null;
}

/** What is asked about two responses. */
interface PairQuestion {
  readonly name: string;
  readonly task: string;
  readonly responses: readonly [string, string];
  readonly signal: AbortSignal | undefined;
}

/** Compares pairs in both orders, and counts how the orders agree. */
export class PairComparison {
  readonly #session: JudgeSession;
  readonly #rubric: string;
  readonly #template: JudgeTemplate;
  readonly #disagreement: 'tie' | 'null';
  readonly #tally = { compared: 0, consistent: 0, favouredFirst: 0, favouredSecond: 0 };

  constructor(
    session: JudgeSession,
    about: {
      readonly rubric: string;
      readonly template: JudgeTemplate;
      readonly disagreement: 'tie' | 'null';
    },
  ) {
    this.#session = session;
    this.#rubric = about.rubric;
    this.#template = about.template;
    this.#disagreement = about.disagreement;
  }

  async compare(question: PairQuestion): Promise<PairWinner> {
    const [first, second] = question.responses;
    const asking = [
      this.#askInOrder(question, [first, second], 0),
      this.#askInOrder(question, [second, first], 1),
    ] as const;
    await Promise.allSettled(asking);
    const [forth, back] = await Promise.all(asking);
    if (forth === 'neither' || back === 'neither') return 'neither';
    this.#tally.compared += 1;
    if (forth === 'A' && back === 'A') this.#tally.favouredFirst += 1;
    if (forth === 'B' && back === 'B') this.#tally.favouredSecond += 1;
    const [one, other] = [shownAs(forth, 'first', 'second'), shownAs(back, 'second', 'first')];
    if (one !== other) return this.#disagreement === 'tie' ? 'tie' : null;
    this.#tally.consistent += 1;
    return one;
  }

  getStatistics(): PairwiseStatistics {
    const { compared, favouredFirst, favouredSecond } = this.#tally;
    const positionBias = compared === 0 ? null : (favouredFirst - favouredSecond) / compared;
    return { ...this.#session.getStatistics(), ...this.#tally, positionBias };
  }

  #askInOrder(
    { name, task, signal }: PairQuestion,
    [first, second]: readonly [string, string],
    order: number,
  ) {
    return this.#session.ask<'A' | 'B' | 'tie' | 'neither'>({
      name: ['pairwise', name, order],
      texts: [task, first, second],
      signal,
      template: this.#template,
      fill: (quote) => ({
        rubric: this.#rubric,
        task: quote('task', task),
        first: quote('response A', first),
        second: quote('response B', second),
      }),
      read: (lines) => readChoice(lines.get('winner')),
      worst: 'neither',
    });
  }
}

function readChoice(text: string | undefined): 'A' | 'B' | 'tie' | undefined {
  const choices: Readonly<Record<string, 'A' | 'B' | 'tie'>> = { a: 'A', b: 'B', tie: 'tie' };
  const word = text?.toLowerCase() ?? '';
  return Object.hasOwn(choices, word) ? choices[word] : undefined;
}

function shownAs(
  choice: 'A' | 'B' | 'tie',
  a: 'first' | 'second',
  b: 'first' | 'second',
): 'first' | 'second' | 'tie' {
  return choice === 'tie' ? 'tie' : choice === 'A' ? a : b;
}
