import * as core from '@rlp/core';

/** An error as it crosses between threads. */
export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly cause?: unknown;
  readonly issues?: readonly string[] | undefined;
  readonly code?: string | undefined;
  /** Marks the record. A cause may be an error or plain data. */
  readonly kind: 'error';
}

const classes: Readonly<Record<string, { readonly prototype: Error }>> = {
  RlpError: core.RlpError,
  ArgumentError: core.ArgumentError,
  OptionsError: core.OptionsError,
  FormatError: core.FormatError,
  SamplerError: core.SamplerError,
  EnvironmentError: core.EnvironmentError,
  RewardError: core.RewardError,
  TrainingError: core.TrainingError,
  EngineError: core.EngineError,
  TimeoutError: core.TimeoutError,
  MissingPeerError: core.MissingPeerError,
  Error,
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
};

/** Converts any thrown value to data that can be posted. Never throws. */
export function serializeError(thrown: unknown, depth = 0): WireError {
  if (!(thrown instanceof Error) && !isDomException(thrown)) {
    return { kind: 'error', name: 'Error', message: textOf(thrown) };
  }
  const { name, message, stack } = thrown;
  const cause = 'cause' in thrown ? thrown.cause : undefined;
  return {
    kind: 'error',
    name: isDomException(thrown) ? `DOMException:${name}` : name,
    message,
    stack,
    ...(cause !== undefined && depth < 5 ? { cause: serializeCause(cause, depth + 1) } : {}),
    ...(thrown instanceof core.OptionsError ? { issues: [...thrown.issues] } : {}),
    ...('code' in thrown && typeof thrown.code === 'string' ? { code: thrown.code } : {}),
  };
}

/**
 * Restores an error with its class, message, stack and cause.
 *
 * Classes of core and of JavaScript are restored. Others become `Error`.
 */
export function reviveError(wire: WireError): unknown {
  const dom = /^DOMException:(.*)$/.exec(wire.name);
  if (dom) return new DOMException(wire.message, dom[1]);
  const known = Object.hasOwn(classes, wire.name) ? classes[wire.name] : undefined;
  // Constructors differ in their arguments, so set the fields on a bare instance.
  const error = new Error(wire.message);
  Object.setPrototypeOf(error, (known ?? Error).prototype);
  const define = (key: string, value: unknown, visible: 'enumerable' | 'hidden' = 'hidden') =>
    Object.defineProperty(error, key, {
      value,
      configurable: true,
      writable: true,
      enumerable: visible === 'enumerable',
    });
  if (error.name !== wire.name || known?.prototype instanceof core.RlpError) {
    define('name', wire.name, 'enumerable');
  }
  if (wire.stack !== undefined) define('stack', wire.stack);
  if (wire.cause !== undefined)
    define('cause', isWireError(wire.cause) ? reviveError(wire.cause) : wire.cause);
  if (wire.issues !== undefined) define('issues', wire.issues, 'enumerable');
  if (wire.code !== undefined) define('code', wire.code, 'enumerable');
  return error;
}

function serializeCause(cause: unknown, depth: number): unknown {
  if (cause instanceof Error || isDomException(cause)) return serializeError(cause, depth);
  return ['string', 'number', 'boolean'].includes(typeof cause) ? cause : textOf(cause);
}

/** Some values cannot be converted to text, such as objects without a prototype. */
function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

function isWireError(value: unknown): value is WireError {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'error';
}

function isDomException(value: unknown): value is DOMException {
  return value instanceof DOMException;
}
