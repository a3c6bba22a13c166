/** How a run continues another. */
export interface ResumeOptions<State> {
  /** The state of the last report of the run to continue. The backend must hold that moment's checkpoint. */
  readonly resume?: State | undefined;
}
