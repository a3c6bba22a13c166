/** Runs untrusted JavaScript with limits. Needs Node. */
import { requireArguments, requireFields } from '@rlp/core';
import type { SandboxOptions } from './javascript/options.ts';
import { Sandbox, type SandboxCallOptions, type SandboxOutcome } from './javascript/sandbox.ts';

export type { CodeOutcome, CodeProgram, CodeRunner } from './code-runner.ts';
export { javascriptRunner } from './javascript/javascript-runner.ts';
export type { SandboxOptions } from './javascript/options.ts';
export type { SandboxFailureCause } from './javascript/protocol.ts';
export type {
  Sandbox,
  SandboxCallOptions,
  SandboxOutcome,
  SandboxStatistics,
} from './javascript/sandbox.ts';

/**
 * Creates a sandbox: threads with a JavaScript engine (QuickJS) inside WebAssembly.
 *
 * Code there cannot reach files, network, processes, timers or your objects. Time, memory, stack and output
 * have limits. A thread that does not stop is killed.
 *
 * @throws OptionsError naming every problem at once.
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const program = import.meta.url.endsWith('.ts') ? './sandbox.worker.ts' : './sandbox.worker.js';
  return new Sandbox(new URL(program, import.meta.url), options);
}

/** Options of {@link runSandboxed}. */
export interface RunSandboxedOptions extends SandboxOptions {
  /** Ends all calls with its reason. Default: no signal. */
  readonly signal?: SandboxCallOptions['signal'];
}

/**
 * Calls a function once for each list of arguments and returns the outcomes in order.
 *
 * Each call gets a fresh global object. A sandbox is opened for these calls and closed afterwards. For more
 * than one function, {@link createSandbox} starts only once.
 *
 * @throws OptionsError naming every problem at once. Rejects as `Sandbox.call` does.
 */
export async function runSandboxed(
  code: string,
  calls: readonly (readonly unknown[])[],
  options: RunSandboxedOptions = {},
): Promise<SandboxOutcome[]> {
  requireArguments('runSandboxed', { code: 'text', calls: 'lists' }, code, calls);
  requireFields('runSandboxed', { timeoutMs: 'number?' }, options);
  const { signal, ...others } = options;
  const sandbox = createSandbox(others);
  try {
    return await Promise.all(calls.map((args) => sandbox.call(code, args, { signal })));
  } finally {
    await sandbox.close();
  }
}
