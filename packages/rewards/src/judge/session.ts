import {
  callback,
  type Message,
  messageOf,
  RewardError,
  type ScoredTrajectory,
  settleWithin,
  type TextGenerator,
  TimeoutError,
  type Trajectory,
  timerMs,
  withCause,
} from '@rlp/core';
import pLimit from 'p-limit';
import * as z from 'zod';
import { unscored } from '../functions/score-trajectories.ts';
import { overWindows, type TextWindow } from './long-text.ts';
import { type FillTemplate, type JudgeTemplate, quotingMessages } from './template.ts';
import { readScores, readVerdictLines } from './verdict-lines.ts';

/** Schema of {@link JudgeOptions}. */
export const judgeSchema = z.strictObject({
  /** Model that judges. Required. */
  generator: callback<TextGenerator>(),
  /** Name of the random streams of keys, orders and the generator. Default `'judge'`. */
  seed: z.string().default('judge'),
  /** Times an output that cannot be read is asked for again. Default 1. */
  retries: z.int().nonnegative().default(1),
  /** Milliseconds that a call of the model may take. Default 60 000. */
  timeoutMs: timerMs.default(60_000),
  /** Calls in progress at once. Default 8. */
  concurrency: z.int().positive().default(8),
  /**
   * Most characters of each quoted text. A longer response is judged in at most 32 windows of that many,
   * and what they do not show counts as the worst. In tasks and references, a longer text loses its middle. Default 20 000.
   */
  maximumCharacters: z.int().positive().default(20_000),
  /** Whether the worst window of a long response counts, or the mean of all. Default `'worst'`. */
  longText: z.enum(['worst', 'mean']).default('worst'),
  /**
   * Failures that give the worst score instead of none. Such verdicts still count as failures. Default: an answer that cannot be read and
   * an error of the model, if the judge can judge an empty response to the same task. So a response gains nothing by spoiling its verdict,
   * and a judge that does not work gives none. Judges that compare responses show such a response as an empty one.
   */
  worstScoreFor: z
    .array(z.enum(['unparsable', 'threw', 'timed-out']))
    .readonly()
    .optional(),
});

/** What judges look at. */
export interface JudgeSubject<Metadata> {
  /** Text of a trajectory that is judged. Default `workText` of `@rlp/core`: the response, or with several turns the conversation from the first. */
  readonly show?: ((trajectory: Trajectory<Metadata>) => string) | undefined;
}

/** Schema of a scale from the worst to the best score. */
export const scaleSchema = z
  .tuple([z.number(), z.number()])
  .readonly()
  .refine(([worst, best]) => worst < best, 'must go from worst to best');

/** Options of every judge that generates text. */
export interface JudgeOptions<Metadata = unknown>
  extends z.input<typeof judgeSchema>,
    JudgeSubject<Metadata> {}

/** Why a judge gave no verdict. */
export type JudgeFailureCause = 'unparsable' | 'threw' | 'timed-out';

/** Counts of one judge since it was made. */
export interface JudgeStatistics {
  /** Verdicts asked for. */
  readonly asked: number;
  /** Calls of the generator, retries included. */
  readonly calls: number;
  /** Verdicts that failed, by cause. */
  readonly failures: Readonly<Record<JudgeFailureCause, number>>;
  /** Of these: verdicts that gave the worst score. */
  readonly worst: number;
  /** What was wrong the last time. */
  readonly lastFailure: string | undefined;
}

/** Counts verdicts and their failures. */
export class JudgeTally {
  readonly #owner: string;
  readonly #worstScoreFor: readonly JudgeFailureCause[] | undefined;
  readonly #counts = { asked: 0, calls: 0, worst: 0 };
  readonly #failures = { unparsable: 0, threw: 0, 'timed-out': 0 };
  #lastFailure: string | undefined;

  constructor(owner: string, { worstScoreFor }: Pick<z.output<typeof judgeSchema>, 'worstScoreFor'>) {
    this.#owner = owner;
    this.#worstScoreFor = worstScoreFor;
  }

  /** Counts a question or a call. */
  count(what: 'asked' | 'calls'): void {
    this.#counts[what] += 1;
  }

  /**
   * Counts a failure. Returns the worst verdict if the options say so, or if they are silent and it is the response's `fault`.
   *
   * @throws TimeoutError or RewardError that names the judge, otherwise.
   */
  fail<Verdict>(
    cause: JudgeFailureCause,
    message: string,
    worst: Verdict,
    { error, fault = 'unknown' }: { readonly error?: unknown; readonly fault?: 'response' | 'unknown' } = {},
  ): Verdict {
    this.#failures[cause] += 1;
    this.#lastFailure = message;
    if (this.#worstScoreFor?.includes(cause) ?? fault === 'response') {
      this.#counts.worst += 1;
      return worst;
    }
    const Failure = cause === 'timed-out' ? TimeoutError : RewardError;
    throw new Failure(`${this.#owner}: ${message}`, { cause: error });
  }

  /** Counts an error of the model as a failure. Rethrows the signal's reason, once aborted. */
  failBy<Verdict>(error: unknown, signal: AbortSignal | undefined, worst: Verdict): Verdict {
    signal?.throwIfAborted();
    const cause = error instanceof TimeoutError ? 'timed-out' : 'threw';
    return this.fail(cause, messageOf(error), worst, { error });
  }

  /** The counts so far, as a value. */
  snapshot(): JudgeStatistics {
    return { ...this.#counts, failures: { ...this.#failures }, lastFailure: this.#lastFailure };
  }
}

/** A trajectory without a verdict: with the reason, if its judge failed. Rethrows the signal's reason, once aborted. */
export function unjudged<Metadata>(
  trajectory: Trajectory<Metadata>,
  components: readonly string[],
  { error, signal }: { readonly error?: unknown; readonly signal: AbortSignal | undefined },
): ScoredTrajectory<Metadata> {
  signal?.throwIfAborted();
  const nothing = unscored(trajectory, components);
  if (error === undefined) return nothing;
  const cause = error instanceof TimeoutError ? 'timed-out' : 'threw';
  const failure = { source: 'judge', cause, message: messageOf(error) } as const;
  return { ...nothing, failures: [withCause(failure, error)] };
}

/** What every question has. */
interface Asked {
  /** Names the question's random streams. Unique within the judge. */
  readonly name: readonly (string | number)[];
  readonly signal: AbortSignal | undefined;
}

/** One question to the judge. */
interface Question<Verdict> extends Asked {
  /** The responses. */
  readonly shown: readonly TextWindow[];
  readonly fill: (shown: readonly TextWindow[]) => FillTemplate;
  /** The verdict in the lines of an output, by their labels. `undefined` if it cannot be read. */
  readonly read: (lines: ReadonlyMap<string, string>) => Verdict | undefined;
  readonly worst: Verdict;
}

/** A question about one response. */
interface ResponseQuestion extends Asked {
  readonly fill: (window: TextWindow) => FillTemplate;
  /** Labels of the scores. */
  readonly labels: readonly string[];
  readonly scale: readonly [number, number];
}

/** Settings of a {@link JudgeSession}. */
interface SessionSettings extends z.output<typeof judgeSchema> {
  readonly template: JudgeTemplate;
}

/** What the model said, and the verdict in it if it can be read. */
interface Answer<Verdict> {
  readonly output: string;
  readonly verdict: Verdict | undefined;
}

/** Asks a generator for verdicts, within limits, and counts what became of them. */
export class JudgeSession {
  readonly seed: string;
  readonly #options: SessionSettings;
  readonly #limit: <Value>(task: () => Promise<Value>) => Promise<Value>;
  readonly #tally: JudgeTally;

  /** @param owner - Name of the judge in error messages. */
  constructor(owner: string, options: SessionSettings) {
    this.#options = options;
    this.seed = options.seed;
    this.#tally = new JudgeTally(owner, options);
    this.#limit = pLimit(options.concurrency);
  }

  /** The verdict, or the worst one for the failures of `worstScoreFor`. Rejects if the judge fails otherwise, and once aborted. */
  ask<Verdict>(question: Question<Verdict>): Promise<Verdict> {
    this.#tally.count('asked');
    return this.#limit(() => this.#askNow(question));
  }

  /** Scores of a response from 0 to 1, asked about in windows if it is long. */
  score(text: string, { name, signal, fill, labels, scale }: ResponseQuestion): Promise<readonly number[]> {
    const [worst, best] = scale;
    return overWindows(text, this.#options, async (window) => {
      const scores = await this.ask<readonly number[]>({
        ...{ name: [...name, ...window.part], signal },
        ...{ shown: [window], fill: ([only]) => fill(only!) },
        read: (lines) => readScores(lines, labels, scale),
        worst: labels.map(() => worst),
      });
      return scores.map((score) => (score - worst) / (best - worst));
    });
  }

  getStatistics(): JudgeStatistics {
    return this.#tally.snapshot();
  }

  async #askNow<Verdict>(question: Question<Verdict>): Promise<Verdict> {
    const { worst, signal } = question;
    let cause: JudgeFailureCause = 'unparsable';
    let message = '';
    let error: unknown;
    try {
      for (let attempt = 0; attempt <= this.#options.retries; attempt++) {
        const { output, verdict } = await this.#attempt(question, attempt);
        if (verdict !== undefined) return verdict;
        message = `expected a verdict of the model, got ${JSON.stringify(output.slice(-200))}`;
      }
    } catch (thrown) {
      signal?.throwIfAborted();
      cause = thrown instanceof TimeoutError ? 'timed-out' : 'threw';
      [message, error] = [messageOf(thrown), thrown];
    }
    const spared = cause === 'timed-out' ? undefined : await this.#withoutSpoilers(question, cause);
    return this.#tally.fail(cause, message, spared ?? worst, {
      error,
      fault: spared === undefined ? 'unknown' : 'response',
    });
  }

  /**
   * The verdict with every response left empty that the judge cannot judge alone. `undefined` if none of them is at fault, as
   * with a judge that cannot judge empty ones either.
   */
  async #withoutSpoilers<Verdict>(
    question: Question<Verdict>,
    cause: JudgeFailureCause,
  ): Promise<Verdict | undefined> {
    const { shown, worst, signal } = question;
    if (this.#options.worstScoreFor !== undefined) return undefined;
    const verdictOn = async (isShown: (place: number) => boolean, attempt: string) => {
      const left = shown.map((window, place) => (isShown(place) ? window : { ...window, text: '' }));
      const answer = await this.#attempt({ ...question, shown: left }, attempt).catch(() => undefined);
      signal?.throwIfAborted();
      return answer?.verdict;
    };
    if ((await verdictOn(() => false, 'empty')) === undefined) return undefined;
    // What could not be read has been asked for again already.
    const isKnown = shown.length === 1 && cause === 'unparsable';
    const spoils = await Promise.all(
      shown.map(
        async (_, k) => isKnown || (await verdictOn((place) => place === k, `alone ${k}`)) === undefined,
      ),
    );
    if (!spoils.includes(true)) return undefined;
    return shown.length === 1 ? worst : verdictOn((place) => !spoils[place], 'spared');
  }

  async #attempt<Verdict>(
    { name, shown, fill, read, signal }: Question<Verdict>,
    attempt: number | string,
  ): Promise<Answer<Verdict>> {
    signal?.throwIfAborted();
    const { template, maximumCharacters } = this.#options;
    const path = [this.seed, ...name, attempt];
    const { key, messages } = quotingMessages(template, fill(shown), { path, maximumCharacters });
    const output = await this.#generate(messages, { seed: JSON.stringify(path), signal });
    const lines = readVerdictLines(output, key);
    return { output, verdict: lines && read(lines) };
  }

  async #generate(
    messages: readonly Message[],
    { seed, signal }: { readonly seed: string; readonly signal: AbortSignal | undefined },
  ): Promise<string> {
    this.#tally.count('calls');
    const { generator, timeoutMs } = this.#options;
    const controller = new AbortController();
    const work = generator(messages, { seed, signal: controller.signal });
    const output: unknown = await settleWithin(work, controller, { timeoutMs, signal });
    return typeof output === 'string' ? output : '';
  }
}
