/** Where a command writes its output. */
export interface CliContext {
  /** Prints a line of the result. */
  readonly print: (line: string) => void;
  /** Prints an error or a warning. */
  readonly printError: (line: string) => void;
}
