import type { EngineOptions } from '@rlp/onnx/runtime';

/** Where a command reads and writes. */
export interface CliContext {
  /** Prints a line of the result. */
  readonly print: (line: string) => void;
  /** Prints an error or a warning. */
  readonly printError: (line: string) => void;
  /** Writes a part of a line, such as one token. Default: what is written is printed when the command ends. */
  readonly write?: ((text: string) => void) | undefined;
  /** Text that the command was given, in pieces. Default: none. */
  readonly input?: AsyncIterable<string> | undefined;
  /** Where progress is shown, such as `process.stderr`. Default: its lines are printed as errors. */
  readonly progress?: (NodeJS.WritableStream & { readonly isTTY?: boolean }) | undefined;
  /** Whether colours are shown. Default `false`. */
  readonly colors?: boolean | undefined;
  /** Fires when the user interrupts the command. Default: never. */
  readonly signal?: AbortSignal | undefined;
  /** Options of the engine that models run on. Default: a separate thread, with one thread per core. */
  readonly engine?: EngineOptions | undefined;
}
