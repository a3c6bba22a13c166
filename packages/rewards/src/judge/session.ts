import { type Message, messageOf, settleWithin, TimeoutError, type Trajectory } from '@rlp/core';
import pLimit from 'p-limit';
import * as z from 'zod';
import { functionSchema, timerMs } from '../shared/schemas.ts';
import { drawKey, type FillTemplate, type JudgeTemplate, quotingMessages } from './template.ts';
import type { TextGenerator } from './text-generator.ts';
import { readVerdictLines } from './verdict-lines.ts';

/** Schema of {@link JudgeOptions}. */
export const judgeSchema = z.strictObject({
  /** Model that judges. Required. */
  generator: functionSchema<TextGenerator>(),
  /** Name of the random streams of keys, orders and the generator. Default `'judge'`. */
  seed: z.string().default('judge'),
  /** Times an output that cannot be read is asked for again. Default 1. */
  retries: z.int().nonnegative().default(1),
  /** Milliseconds that a call of the model may take. Default 60 000. */
  timeoutMs: timerMs.default(60_000),
  /** Calls in progress at once. Default 8. */
  concurrency: z.int().positive().default(8),
  /** Most characters of each quoted text. Longer texts lose their middle. Default 20 000. */
  maximumCharacters: z.int().positive().default(20_000),
});

/** What judges look at, and how they are asked. */
export interface JudgePrompt<Metadata> {
  /** Text of a trajectory that is judged. Default: its response. */
  readonly show?: ((trajectory: Trajectory<Metadata>) => string) | undefined;
  /** Prompt of the judge. Default: the judge's template, such as `pointwiseTemplate`. */
  readonly template?: JudgeTemplate | undefined;
}

/** Options of every judge that generates text. */
export interface JudgeOptions<Metadata = unknown>
  extends z.input<typeof judgeSchema>,
    JudgePrompt<Metadata> {}

/** Why a judge gave no verdict. */
export type JudgeFailureCause = 'unparsable' | 'threw' | 'timed-out';

/** Counts of one judge since it was made. */
export interface JudgeStatistics {
  /** Verdicts asked for. */
  readonly asked: number;
  /** Calls of the generator, retries included. */
  readonly calls: number;
  /** Verdicts that stayed `null`, by cause. */
  readonly failures: Readonly<Record<JudgeFailureCause, number>>;
  /** What was wrong the last time. */
  readonly lastFailure: string | undefined;
}

/** Counts verdicts and their failures. */
export class JudgeTally {
  asked = 0;
  calls = 0;
  readonly #failures = { unparsable: 0, threw: 0, 'timed-out': 0 };
  #lastFailure: string | undefined;

  /** Counts a failure. Returns `null`. */
  fail(cause: JudgeFailureCause, message: string): null {
    this.#failures[cause] += 1;
    this.#lastFailure = message;
    return null;
  }

  /** Counts an error of the model as a failure. Rethrows the signal's reason, once aborted. */
  failBy(error: unknown, signal: AbortSignal | undefined): null {
    signal?.throwIfAborted();
    return this.fail(error instanceof TimeoutError ? 'timed-out' : 'threw', messageOf(error));
  }

  /** The counts so far, as a value. */
  snapshot(): JudgeStatistics {
    const { asked, calls } = this;
    return { asked, calls, failures: { ...this.#failures }, lastFailure: this.#lastFailure };
  }
}

/** One question to the judge. */
interface Question<Verdict> {
  /** Names the question's random streams; unique within the judge. */
  readonly name: readonly (string | number)[];
  /** What the key must not occur in. */
  readonly texts: readonly string[];
  readonly template: JudgeTemplate;
  readonly fill: FillTemplate;
  /** The verdict in the lines of an output, by their labels; `undefined` if it cannot be read. */
  readonly read: (lines: ReadonlyMap<string, string>) => Verdict | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Asks a generator for verdicts, within limits, and counts what became of them. */
export class JudgeSession {
  readonly seed: string;
  readonly #options: z.output<typeof judgeSchema>;
  readonly #limit: <Value>(task: () => Promise<Value>) => Promise<Value>;
  readonly #tally = new JudgeTally();

  constructor(options: z.output<typeof judgeSchema>) {
    this.#options = options;
    this.seed = options.seed;
    this.#limit = pLimit(options.concurrency);
  }

  /** The verdict, or `null` after a failure. Rejects only with the signal's reason, once aborted. */
  ask<Verdict>(question: Question<Verdict>): Promise<Verdict | null> {
    this.#tally.asked += 1;
    return this.#limit(() => this.#askNow(question));
  }

  getStatistics(): JudgeStatistics {
    return this.#tally.snapshot();
  }

  async #askNow<Verdict>(question: Question<Verdict>): Promise<Verdict | null> {
    const { name, texts, template, fill, read, signal } = question;
    const { maximumCharacters } = this.#options;
    let output = '';
    for (let attempt = 0; attempt <= this.#options.retries; attempt++) {
      signal?.throwIfAborted();
      const path = [this.seed, ...name, attempt];
      const key = drawKey(path, texts);
      try {
        const messages = quotingMessages(template, fill, { key, maximumCharacters });
        output = await this.#generate(messages, { seed: JSON.stringify(path), signal });
      } catch (error) {
        return this.#tally.failBy(error, signal);
      }
      const lines = readVerdictLines(output, key);
      const verdict = lines && read(lines);
      if (verdict !== undefined) return verdict;
    }
    return this.#tally.fail('unparsable', `no verdict in ${JSON.stringify(output.slice(-200))}`);
  }

  async #generate(
    messages: readonly Message[],
    { seed, signal }: { readonly seed: string; readonly signal: AbortSignal | undefined },
  ): Promise<string> {
    this.#tally.calls += 1;
    const { generator, timeoutMs } = this.#options;
    const controller = new AbortController();
    const work = generator(messages, { seed, signal: controller.signal });
    const output: unknown = await settleWithin(work, controller, { timeoutMs, signal });
    return typeof output === 'string' ? output : '';
  }
}
