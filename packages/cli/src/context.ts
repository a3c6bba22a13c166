/** Where a command's lines go. */
export interface CliContext {
  /** Results. */
  readonly say: (line: string) => void;
  /** What went wrong. */
  readonly complain: (line: string) => void;
}
