import type { Monitor, MonitorBatch, MonitorReport } from '@rlp/core';
import type { ReadText } from './read-text.ts';

/** A monitor that can reuse responses that were read before. Every monitor fits. */
export interface TextMonitor extends Monitor {
  /** @param texts - The batch's responses, if they were read before. Valid during the call. */
  observe(batch: MonitorBatch, texts?: readonly ReadText[]): MonitorReport;
}
