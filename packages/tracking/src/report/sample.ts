/** A prompt, and what the policy answered before and after training. */
export interface ReportSample {
  readonly prompt: string;
  readonly before: string;
  readonly after: string;
  /** The right answer, if it is known. */
  readonly reference?: string | undefined;
  /** `null` if it could not be scored. */
  readonly rewardBefore?: number | null | undefined;
  /** `null` if it could not be scored. */
  readonly rewardAfter?: number | null | undefined;
}
