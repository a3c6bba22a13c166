import { type Message, messageOf, parseOptions, settleWithin, TimeoutError } from '@rlp/core';
import pLimit from 'p-limit';
import * as z from 'zod';
import { timerMs } from '../shared/schemas.ts';
import { drawKey, type FillTemplate, type JudgeTemplate, quotingMessages } from './template.ts';
import type { TextGenerator } from './text-generator.ts';
import { readVerdictLines } from './verdict-lines.ts';

/** The options that all judges share. */
export const judgeSchema = z.strictObject({
  generator: z.custom<TextGenerator>((value) => typeof value === 'function', 'must be a function'),
  seed: z.string().default('judge'),
  retries: z.int().nonnegative().default(1),
  timeoutMs: timerMs.default(60_000),
  concurrency: z.int().positive().default(8),
  maximumCharacters: z.int().positive().default(20_000),
});

/**
 * What all judges are made of.
 *
 * - `generator`: the model that judges.
 * - `seed` ('judge'): names the random streams of keys, orders and the generator's own draws.
 * - `retries` (1): how often an output that cannot be read is asked for again, with another seed.
 * - `timeoutMs` (60,000) per call of the generator; `concurrency` (8): calls of one judge at a time.
 * - `maximumCharacters` (20,000): of each quoted text; longer ones lose their middle.
 */
export type JudgeOptions = z.input<typeof judgeSchema>;

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

/** One question to the judge. */
interface Question<Verdict> {
  /** Names the question's random streams; unique within the judge. */
  readonly name: readonly (string | number)[];
  /** What the key must not occur in. */
  readonly texts: readonly string[];
  readonly template: JudgeTemplate;
  readonly fill: FillTemplate;
  /** The verdict in the lines of an output, by their labels; `undefined` where it cannot be read. */
  readonly read: (lines: ReadonlyMap<string, string>) => Verdict | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Asks a generator for verdicts, within limits, and counts what became of them. */
export class JudgeSession {
  readonly seed: string;
  readonly #options: z.output<typeof judgeSchema>;
  readonly #limit: <Value>(task: () => Promise<Value>) => Promise<Value>;
  readonly #failures = { unparsable: 0, threw: 0, 'timed-out': 0 };
  #asked = 0;
  #calls = 0;
  #lastFailure: string | undefined;

  constructor(owner: string, options: JudgeOptions) {
    this.#options = parseOptions(owner, judgeSchema, options);
    this.seed = this.#options.seed;
    this.#limit = pLimit(this.#options.concurrency);
  }

  /** The verdict, or `null` after a failure. Rejects only with the signal's reason, once aborted. */
  ask<Verdict>(question: Question<Verdict>): Promise<Verdict | null> {
    this.#asked += 1;
    return this.#limit(() => this.#askNow(question));
  }

  getStatistics(): JudgeStatistics {
    return {
      asked: this.#asked,
      calls: this.#calls,
      failures: { ...this.#failures },
      lastFailure: this.#lastFailure,
    };
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
        signal?.throwIfAborted();
        const cause = error instanceof TimeoutError ? 'timed-out' : 'threw';
        return this.#fail(cause, messageOf(error));
      }
      const lines = readVerdictLines(output, key);
      const verdict = lines && read(lines);
      if (verdict !== undefined) return verdict;
    }
    return this.#fail('unparsable', `no verdict in ${JSON.stringify(output.slice(-200))}`);
  }

  #fail(cause: JudgeFailureCause, message: string): null {
    this.#failures[cause] += 1;
    this.#lastFailure = message;
    return null;
  }

  async #generate(
    messages: readonly Message[],
    { seed, signal }: { readonly seed: string; readonly signal: AbortSignal | undefined },
  ): Promise<string> {
    this.#calls += 1;
    const { generator, timeoutMs } = this.#options;
    const controller = new AbortController();
    const work = generator(messages, { seed, signal: controller.signal });
    const output: unknown = await settleWithin(work, controller, { timeoutMs, signal });
    return typeof output === 'string' ? output : '';
  }
}
