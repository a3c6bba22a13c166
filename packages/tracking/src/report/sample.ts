/** A prompt, and what the policy answered before and after training. */
export interface ReportSample {
  readonly prompt: string;
  readonly before: string;
  readonly after: string;
  /** The right answer, where there is one. */
  readonly reference?: string | undefined;
  /** `null`: unscorable. */
  readonly rewardBefore?: number | null | undefined;
  /** `null`: unscorable. */
  readonly rewardAfter?: number | null | undefined;
}
