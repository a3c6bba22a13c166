import type { LayerUse } from '../layers/layer.ts';

/** What an episode did with its tools. Part of the state. */
export interface ToolUse extends LayerUse {
  /** Calls that were run. */
  readonly calls: number;
  /** Calls that failed or were refused. */
  readonly errors: number;
  /** Sum of the costs of the calls. */
  readonly spent: number;
}
