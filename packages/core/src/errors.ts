/** Root of every error this project throws on purpose. Anything else escaping is a bug. */
export class RlpError extends Error {
  override readonly name: string = 'RlpError';
}

/** A caller passed something a function documents it does not accept. */
export class ArgumentError extends RlpError {
  override readonly name = 'ArgumentError';
}

/** User-supplied options failed validation. `issues` holds one line per problem. */
export class OptionsError extends RlpError {
  override readonly name = 'OptionsError';

  readonly issues: readonly string[];

  /**
   * @param owner - The function or class that takes the options.
   * @param type - The options' interface, such as `RlOptions`.
   */
  constructor(owner: string, issues: readonly string[], type?: string) {
    const named = type === undefined ? '' : ` (${type})`;
    super(`${owner}: invalid options${named}\n${issues.map((issue) => `  - ${issue}`).join('\n')}`);
    this.issues = issues;
  }
}

/** A file or a record read from outside is malformed. The message names the file, the field and a remedy. */
export class FormatError extends RlpError {
  override readonly name = 'FormatError';
}

/** A server was not reached, did not answer in time, or answered with a status of failure. `cause` says why. */
export class NetworkError extends RlpError {
  override readonly name = 'NetworkError';
}

/** The policy's backend failed to produce the completions asked for. `cause` says why. */
export class SamplerError extends RlpError {
  override readonly name = 'SamplerError';
}

/** An environment threw, hung or returned something that is not a state. `cause` says why. */
export class EnvironmentError extends RlpError {
  override readonly name = 'EnvironmentError';
}

/** A reward function threw, hung or returned something that is not a finite number. `cause` says why. */
export class RewardError extends RlpError {
  override readonly name = 'RewardError';
}

/** A training backend could not carry out a step. Its weights are as they were before the call. */
export class TrainingError extends RlpError {
  override readonly name = 'TrainingError';
}

/** The engine (worker thread, ONNX Runtime session, execution provider) failed. `cause` says why. */
export class EngineError extends RlpError {
  override readonly name = 'EngineError';
}

/** Something took longer than its limit. The message names what waited and the limit in milliseconds. */
export class TimeoutError extends RlpError {
  override readonly name = 'TimeoutError';
}
