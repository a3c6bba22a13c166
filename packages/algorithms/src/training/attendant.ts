import { described, onAbort, startDeadline, TimeoutError, TrainingError } from '@rlp/core';
import type { Deadlines } from './deadlines.ts';

/** Methods of backends and samplers that a run waits for. */
const waitedFor: ReadonlySet<PropertyKey> = new Set([
  'forwardBackward',
  'optimStep',
  'logprobs',
  'values',
  'publish',
  'updateReference',
  'updateWeights',
]);

/** Milliseconds that a call may take after all, once the signal fired. A busy machine halts a quick call for a second or more. */
const leastPatienceMs = 5000;

/** Milliseconds after the signal in which a call may end that seems to hang, if the process was halted until then. */
const lastChanceMs = 500;

/** Fields of the results of calls that a run reads. */
const resultFields: Readonly<Record<string, readonly string[]>> = {
  forwardBackward: ['loss', 'metrics', 'logprobs', 'tokens'],
  optimStep: ['gradientNorm', 'learningRate', 'updates'],
  publish: ['kind', 'version'],
};

/** Those of them that are numbers. With NaN, a run would go on with weights that are lost. */
const finiteFields: ReadonlySet<string> = new Set([
  'loss',
  'gradientNorm',
  'learningRate',
  'updates',
  'version',
]);

/** Limits of {@link Attendant}. */
export interface AttendantOptions {
  readonly deadlines: Pick<Deadlines, 'backendMs' | 'noteMs'>;
  readonly signal: AbortSignal | undefined;
  /** Takes a sentence for people who wait. */
  readonly say: (text: string) => void;
}

/**
 * Waits for the calls of a backend or a sampler, so that one that hangs ends the run with an error.
 *
 * A call may take `backendMs`. Once the signal fires, a call may go on to its end, so that backend and sampler agree. But one that
 * has taken 5 s, and four times as long as every call before it, hangs and is abandoned.
 */
export class Attendant {
  readonly #options: AttendantOptions;
  #slowestMs = 0;

  constructor(options: AttendantOptions) {
    this.#options = options;
  }

  /** The same object, with every call waited for. */
  attended<Part extends object>(part: Part, name: string): Part {
    return new Proxy(part, {
      get: (target, method) => {
        const value: unknown = Reflect.get(target, method, target);
        if (typeof value !== 'function') return value;
        if (!waitedFor.has(method)) return value.bind(target);
        return (...given: unknown[]) => {
          const call = `${name}.${String(method)}`;
          return this.#attend(
            call,
            value.apply(target, given) as PromiseLike<unknown>,
            resultFields[String(method)],
          );
        };
      },
    });
  }

  #attend<Value>(
    call: string,
    work: PromiseLike<Value>,
    fields: readonly string[] | undefined,
  ): Promise<Value> {
    const wait = new Wait(call, this.#options, () => Math.max(leastPatienceMs, 4 * this.#slowestMs));
    const settled = Promise.race([work, wait.givenUp])
      .finally(() => {
        wait.end();
        this.#slowestMs = Math.max(this.#slowestMs, wait.tookMs);
      })
      .then((result) => checkedResult(call, result, fields));
    // The loop submits some calls before it waits for those before them, which can fail first.
    settled.catch(() => undefined);
    return settled;
  }
}

function checkedResult<Value>(call: string, result: Value, fields: readonly string[] = []): Value {
  const missing = fields.filter(
    (field) => (result as Record<string, unknown> | undefined)?.[field] === undefined,
  );
  if (missing.length > 0) {
    throw new TrainingError(
      `${call}: expected to resolve with { ${fields.join(', ')} }, got ${described(result)}; see TrainingBackend of @rlp/core`,
    );
  }
  const given = result as Readonly<Record<string, unknown>> | undefined;
  for (const field of fields.filter((name) => finiteFields.has(name))) {
    const value = given?.[field];
    // A server may not tell the norm, which is NaN then. That of an update that was left out may overflow.
    const isLeftOut = field === 'gradientNorm' && (Number.isNaN(value) || given?.skipped !== undefined);
    if (Number.isFinite(value) || isLeftOut) continue;
    throw new TrainingError(
      `${call}: expected a finite number as ${field}, got ${described(value)}; lower the learning rate or check the batch, and continue from the last checkpoint`,
    );
  }
  return result;
}

/** One call under way. It is timed in steps that double, which needs no clock. */
class Wait {
  /** Rejects when the call is given up. */
  readonly givenUp: Promise<never>;
  /** Milliseconds that have gone by, at the last step. */
  tookMs = 0;
  readonly #call: string;
  readonly #options: AttendantOptions;
  readonly #patienceMs: () => number;
  readonly #timers: Partial<Record<'step' | 'note' | 'lastChance', ReturnType<typeof setTimeout>>> = {};
  readonly #endDeadline: () => void;
  #giveUp!: (error: unknown) => void;
  readonly #release: (() => void) | undefined;

  constructor(call: string, options: AttendantOptions, patienceMs: () => number) {
    this.#call = call;
    this.#options = options;
    this.#patienceMs = patienceMs;
    this.givenUp = new Promise((_, reject) => {
      this.#giveUp = reject;
    });
    this.givenUp.catch(() => undefined);
    const { backendMs, noteMs } = options.deadlines;
    const late = () =>
      this.#giveUp(
        new TimeoutError(
          `${call} took longer than ${backendMs} ms; raise deadlines.backendMs if that is to be expected`,
        ),
      );
    this.#endDeadline = startDeadline(backendMs, late);
    this.#step(leastPatienceMs);
    this.#remind(noteMs, 0);
    this.#release = options.signal && onAbort(options.signal, () => this.#giveLastChance());
  }

  end(): void {
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#endDeadline();
    this.#release?.();
  }

  #giveLastChance(): void {
    this.#timers.lastChance = setTimeout(() => this.#abandonIfHanging(), lastChanceMs);
  }

  #step(atMs: number): void {
    this.#timers.step = setTimeout(() => {
      this.tookMs = atMs;
      this.#abandonIfHanging();
      this.#step(2 * atMs);
    }, atMs - this.tookMs);
  }

  #remind(atMs: number, beforeMs: number): void {
    this.#timers.note = setTimeout(() => {
      this.#options.say(`waiting for ${this.#call} since ${atMs / 1000} s`);
      this.#remind(2 * atMs, atMs);
    }, atMs - beforeMs);
  }

  #abandonIfHanging(): void {
    const { signal } = this.#options;
    if (!signal?.aborted || this.tookMs < this.#patienceMs()) return;
    this.#giveUp(
      new TrainingError(
        `${this.#call} did not end and was abandoned after the signal; load the last checkpoint before you continue`,
        { cause: signal.reason },
      ),
    );
  }
}
