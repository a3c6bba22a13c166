/** Code that nobody trusts, run with limits and without a way out. Needs Node. */
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
 * A sandbox: threads with a JavaScript engine (QuickJS) inside WebAssembly. What runs there reaches no file, network, process, timer or
 * object of ours; it is stopped by limits on time, memory, stack and output, and killed where it does not stop.
 *
 * @throws `OptionsError` naming every problem at once.
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const program = import.meta.url.endsWith('.ts') ? './sandbox.worker.ts' : './sandbox.worker.js';
  return new Sandbox(new URL(program, import.meta.url), options);
}

/** Options of {@link runSandboxed}. */
export interface RunSandboxedOptions extends SandboxOptions {
  /** Ends everything with its reason. */
  readonly signal?: SandboxCallOptions['signal'];
}

/**
 * Calls a function once for each list of arguments, in a sandbox made for that: an outcome per call, in order. Each call has a world
 * of its own, so that none learns of the others. Where there is more than one code to run, {@link createSandbox} saves the start.
 *
 * @throws `OptionsError` naming every problem at once; rejects as `Sandbox.call` does.
 */
export async function runSandboxed(
  code: string,
  calls: readonly (readonly unknown[])[],
  { signal, ...options }: RunSandboxedOptions = {},
): Promise<SandboxOutcome[]> {
  const sandbox = createSandbox(options);
  try {
    return await Promise.all(calls.map((args) => sandbox.call(code, args, { signal })));
  } finally {
    await sandbox.close();
  }
}
