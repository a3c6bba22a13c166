import type { Monitor, MonitorBatch, MonitorReport } from '@rlp/core';
import type { ReadText } from './read-text.ts';

/** A monitor that spares itself the reading of responses that have been read. Every monitor is one, and may read them itself. */
export interface TextMonitor extends Monitor {
  /** @param texts - The responses of the batch's trajectories, where they have been read already, equal ones once; good for this call. */
  observe(batch: MonitorBatch, texts?: readonly ReadText[]): MonitorReport;
}
