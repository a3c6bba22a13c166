import { ArgumentError, EngineError, OptionsError, TimeoutError, TrainingError } from './errors.ts';

/** Errors behind records of failures. The records are JSON data, which has no place for a stack. */
const causes = new WeakMap<object, unknown>();

/** Returns the record, and remembers the error behind it for {@link causeOf}. A copy of the record does not have it. */
export function withCause<Failure extends object>(failure: Failure, cause: unknown): Failure {
  causes.set(failure, cause);
  return failure;
}

/** The error behind a record of a failure, or `undefined` if nobody remembered it. */
export function causeOf(failure: object): unknown {
  return causes.get(failure);
}

/** An error and what caused it, the outermost first. */
function chainOf(error: unknown): readonly unknown[] {
  const chain = [error];
  for (let inner = error; inner instanceof Error && inner.cause !== undefined && chain.length < 16; ) {
    inner = inner.cause;
    chain.push(inner);
  }
  return chain;
}

/** The innermost error that caused this one: the one whose stack leads to the fault. */
export function rootCause(error: unknown): unknown {
  return chainOf(error).findLast((each) => each instanceof Error) ?? error;
}

/**
 * Whether work ended because `signal` stopped it: the error, or what caused it, is the signal's reason or what Node makes of it. An
 * error that came after the signal aborted, such as a full disk, is none.
 */
export function isStoppedBy(signal: AbortSignal, error: unknown): boolean {
  const isOf = (each: unknown) =>
    each === signal.reason || (each as Error | undefined)?.name === 'AbortError';
  return signal.aborted && chainOf(error).some(isOf);
}

/** Errors that come again however often one tries. */
const lasting = [ArgumentError, OptionsError, EngineError, TrainingError];

/** Codes of the system for a server that is away or busy. */
const awayCodes = /^(E(CONN\w+|TIMEDOUT|PIPE|HOST\w+|NET\w+|AI_AGAIN)|UND_ERR_\w+)$/;

/**
 * Whether trying again may help. `'passing'`: something was late, or a server did not answer. `'lasting'`: wrong use, or an engine that
 * is gone. Reads the whole chain of causes, the innermost first.
 *
 * Errors can say so themselves with a property `isPassing`.
 */
export function transienceOf(error: unknown): 'passing' | 'lasting' | 'unknown' {
  for (const each of chainOf(error).toReversed()) {
    if (typeof each !== 'object' || each === null) continue;
    if (lasting.some((kind) => each instanceof kind)) return 'lasting';
    if (each instanceof TimeoutError || (each as Error).name === 'TimeoutError') return 'passing';
    if ('isPassing' in each && each.isPassing === true) return 'passing';
    if ('code' in each && awayCodes.test(String(each.code))) return 'passing';
  }
  return 'unknown';
}
