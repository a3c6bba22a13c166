import { parseOptions, type VerificationReport, type VerificationRequest, type Verifier } from '@rlp/core';
import * as z from 'zod';
import { hasMethod } from '../shared/schemas.ts';
import { reportsOf } from './read-report.ts';

const isVerifier = (value: unknown) =>
  hasMethod(value, 'verifyBatch') && typeof (value as Verifier).name === 'string';

const schema = z.strictObject({
  /** Verifiers of the pipeline, at least one. Required. */
  verifiers: z.array(z.custom<Verifier>(isVerifier, 'must have a name and verifyBatch')).min(1),
  /** Score of the pipeline: the lowest of its parts, their mean, or their product. Default `'minimum'`. */
  aggregate: z.enum(['minimum', 'mean', 'product']).default('minimum'),
  /** Whether verifiers skip responses that an earlier one failed. Default `'all'`. */
  evaluation: z.enum(['all', 'stop-at-failure']).default('all'),
});

/** Options of {@link VerificationPipeline}. */
export interface VerificationPipelineOptions extends z.input<typeof schema> {}

/** A pipeline's report. */
export interface PipelineReport extends VerificationReport {
  readonly details: {
    /** The report of each verifier, by its name. A name used twice has `#2` appended. */
    readonly verifiers: Readonly<Record<string, VerificationReport>>;
    /** Names of those that failed. */
    readonly failed: readonly string[];
    /** Names of those that warned. */
    readonly warned: readonly string[];
  };
}

/**
 * Several verifiers as one. The result is `fail` if one fails, else `warning` if one warns, else `pass`. The score is that of `aggregate`.
 *
 * If a verifier rejects or gives the wrong number of reports, it is asked about each response alone, and only those that break it fail. An
 * invalid report fails its response. The pipeline rejects only with the signal's reason, once aborted.
 */
export class VerificationPipeline implements Verifier {
  readonly name = 'pipeline';
  /** The parts, by the names under which their reports appear. */
  readonly verifiers: ReadonlyMap<string, Verifier>;
  readonly #options: z.output<typeof schema>;

  constructor(options: VerificationPipelineOptions) {
    this.#options = parseOptions('VerificationPipeline', schema, options);
    this.verifiers = named(this.#options.verifiers);
  }

  /** One report per request, in order. */
  async verifyBatch(
    requests: readonly VerificationRequest[],
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<readonly PipelineReport[]> {
    signal?.throwIfAborted();
    const found = requests.map((): Record<string, VerificationReport> => ({}));
    const run = async (name: string, verifier: Verifier, places: readonly number[]) => {
      const shown = places.map((place) => requests[place]!);
      const reports = await reportsOf(name, verifier, shown, { signal });
      for (const [k, place] of places.entries()) found[place]![name] = reports[k]!;
    };
    const all = requests.map((_, place) => place);
    if (this.#options.evaluation === 'all') {
      await Promise.all([...this.verifiers].map(([name, verifier]) => run(name, verifier, all)));
    } else {
      for (const [name, verifier] of this.verifiers) {
        const left = all.filter((p) => Object.values(found[p]!).every(({ result }) => result !== 'fail'));
        if (left.length > 0) await run(name, verifier, left);
      }
    }
    signal?.throwIfAborted();
    return found.map((reports) => this.#combine(reports));
  }

  #combine(found: Readonly<Record<string, VerificationReport>>): PipelineReport {
    // In the order of the verifiers, not in that in which they finished.
    const reports = [...this.verifiers.keys()].flatMap((name) =>
      Object.hasOwn(found, name) ? [[name, found[name]!] as const] : [],
    );
    const named = (result: VerificationReport['result']) =>
      reports.flatMap(([name, report]) => (report.result === result ? [name] : []));
    const [failed, warned] = [named('fail'), named('warning')];
    const worst = reports.find(([, { result }]) => result === (failed.length > 0 ? 'fail' : 'warning'));
    return {
      result: failed.length > 0 ? 'fail' : warned.length > 0 ? 'warning' : 'pass',
      score: combinedScore(
        reports.map(([, { score }]) => score),
        this.#options.aggregate,
      ),
      details: { verifiers: Object.fromEntries(reports), failed, warned },
      message: worst === undefined ? `all ${reports.length} checks pass` : worst[1].message,
    };
  }
}

function combinedScore(scores: readonly number[], aggregate: z.output<typeof schema>['aggregate']): number {
  if (aggregate === 'minimum') return scores.reduce((least, score) => Math.min(least, score), 1);
  if (aggregate === 'product') return scores.reduce((product, score) => product * score, 1);
  return Math.min(1, scores.reduce((sum, score) => sum + score, 0) / scores.length);
}

function named(verifiers: readonly Verifier[]): ReadonlyMap<string, Verifier> {
  const byName = new Map<string, Verifier>();
  for (const verifier of verifiers) {
    let name = verifier.name;
    for (let n = 2; byName.has(name); n++) name = `${verifier.name}#${n}`;
    byName.set(name, verifier);
  }
  return byName;
}
