/** Result of one check. */
export interface Finding {
  /** What was checked, such as `node` or `provider cuda`. */
  readonly name: string;
  /** `note`: works, but read the text. `problem`: a run would fail. */
  readonly state: 'fine' | 'note' | 'problem';
  readonly text: string;
  /** Numbers of the check, for programs. */
  readonly values?: Readonly<Record<string, number>> | undefined;
}

/** Bytes for people. */
export function bytes(count: number): string {
  return count >= 2 ** 30 ? `${(count / 2 ** 30).toFixed(1)} GiB` : `${Math.round(count / 2 ** 20)} MiB`;
}
