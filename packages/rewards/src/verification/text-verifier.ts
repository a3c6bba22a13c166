import {
  isPromiseLike,
  MissingPeerError,
  messageOf,
  parseOptions,
  settleWithin,
  timerMs,
  type VerificationReport,
  type VerificationRequest,
  type Verifier,
} from '@rlp/core';
import * as z from 'zod';
import { CallContext } from '../functions/call-reward.ts';
import { inLanes } from '../shared/in-lanes.ts';
import { failure, readReport } from './read-report.ts';
import { type ReadRequest, readRequest } from './read-request.ts';

/** Schema of {@link VerifierLimits}. */
export const verifierLimitsSchema = z.strictObject({
  /** Milliseconds that an asynchronous `verify` may take. Default 30 000. */
  timeoutMs: timerMs.default(30_000),
  /** Asynchronous calls in progress at once. Default 64. */
  concurrency: z.int().positive().default(64),
});

/** Limits of a {@link TextVerifier}. */
export interface VerifierLimits extends z.input<typeof verifierLimitsSchema> {}

/** What a verifier is told besides the texts. */
export interface VerificationContext {
  /** Fires when the batch is aborted or the time is up. */
  readonly signal: AbortSignal;
  /** What is known about the task. Empty where nothing is. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The response as it came, with its disguises. */
  readonly original: string;
}

/** What became of the texts a verifier was given. */
export interface VerifierStatistics {
  readonly verified: number;
  readonly pass: number;
  readonly warning: number;
  readonly fail: number;
  /** Failures because the response was not text. */
  readonly malformed: number;
  /** Failures because `verify` threw, hung, or gave no valid report. */
  readonly broken: number;
  /** The message of the last such failure. */
  readonly lastFailure: string | undefined;
}

type Pending = VerificationReport | PromiseLike<VerificationReport>;

/**
 * Base class of verifiers that judge one response at a time. Override `verify`, and `verifyBatch` follows.
 *
 * Whatever it is given, `verifyBatch` resolves with one report per request:
 *
 * - a response that is missing or not text is a `fail` with score 0 and `details.problem`.
 * - a prompt that is missing or not text is read as empty, with `details.promptProblem`.
 * - a lone surrogate is read as U+FFFD, with their number in `details.loneSurrogates`.
 * - a disguised response (invisible characters, styled letters, letters of another script) is read as a reader sees it, with the
 *   number of places by kind in `details.disguised`. `context.original` is what came.
 * - a `verify` that throws, takes longer than `timeoutMs`, or gives anything but a report with a score in 0..1 is a `fail`
 *   with score 0 and `details.problem`. {@link getStatistics} counts it.
 *
 * It rejects only with the signal's reason, once aborted, and with a `MissingPeerError` if it needs a package that is not installed.
 */
export abstract class TextVerifier implements Verifier {
  /** Names the check in reports and metrics. */
  abstract readonly name: string;
  readonly #limits: z.output<typeof verifierLimitsSchema>;
  #counts = { pass: 0, warning: 0, fail: 0, malformed: 0, broken: 0 };
  #lastFailure: string | undefined;

  constructor(limits: VerifierLimits = {}) {
    this.#limits = parseOptions('TextVerifier', verifierLimitsSchema, limits);
  }

  /** Judges one response. Both texts are well-formed and may be empty. The response is without disguises. */
  abstract verify(prompt: string, response: string, context: VerificationContext): Pending;

  /** One report per request, in order. See the class. */
  async verifyBatch(
    requests: readonly VerificationRequest[],
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<readonly VerificationReport[]> {
    signal?.throwIfAborted();
    const reports = await inLanes(requests.length, this.#limits.concurrency, (row) => {
      signal?.throwIfAborted();
      return this.#start(requests[row], signal);
    });
    signal?.throwIfAborted();
    return reports;
  }

  /** Counts since it was made. */
  getStatistics(): VerifierStatistics {
    const { pass, warning, fail } = this.#counts;
    return { verified: pass + warning + fail, ...this.#counts, lastFailure: this.#lastFailure };
  }

  #start(
    request: unknown,
    signal: AbortSignal | undefined,
  ): VerificationReport | Promise<VerificationReport> {
    const read = readRequest(request);
    if ('problem' in read) {
      this.#counts.malformed += 1;
      return this.#count(failure(this.name, read.problem));
    }
    const call = new CallContext();
    try {
      const { prompt, response, metadata, original } = read;
      const context: VerificationContext = {
        get signal() {
          return call.signal;
        },
        metadata,
        original,
      };
      const given = this.verify(prompt, response, context);
      if (!isPromiseLike(given)) return this.#finish(given, read);
      const { timeoutMs } = this.#limits;
      return settleWithin(given, call.controller, { timeoutMs, signal }).then(
        (report) => this.#finish(report, read),
        (error: unknown) => (signal?.aborted ? failure(this.name, messageOf(error)) : this.#threw(error)),
      );
    } catch (error) {
      return this.#threw(error);
    }
  }

  #finish(given: unknown, { notes }: ReadRequest): VerificationReport {
    const report = readReport(given);
    if ('problem' in report) return this.#broken(report.problem);
    const details = { ...notes, ...report.details };
    return this.#count(Object.keys(notes).length === 0 ? report : { ...report, details });
  }

  #threw(error: unknown): VerificationReport {
    // It says nothing about the response, and everything about the program.
    if (error instanceof MissingPeerError) throw error;
    return this.#broken(messageOf(error));
  }

  #broken(problem: string): VerificationReport {
    this.#counts.broken += 1;
    this.#lastFailure = problem;
    return this.#count(failure(this.name, problem));
  }

  #count(report: VerificationReport): VerificationReport {
    this.#counts[report.result] += 1;
    return report;
  }
}
