import { type Finding, severities } from '@rlp/core';
import * as z from 'zod';
import { count } from '../state/saved.ts';

/** Numbers of alerts by severity and by rule. What did not occur is absent. */
export const alertsSchema = z.strictObject({
  bySeverity: z.partialRecord(z.enum(severities), count),
  byRule: z.record(z.string(), count),
});

type AlertCounts = z.output<typeof alertsSchema>;

export function countAlert({ bySeverity, byRule }: AlertCounts, { severity, rule }: Finding): void {
  bySeverity[severity] = (bySeverity[severity] ?? 0) + 1;
  byRule[rule] = (byRule[rule] ?? 0) + 1;
}

/** The counts as summaries have them. */
export function alertSummary({ bySeverity, byRule }: AlertCounts) {
  const totalAlerts = Object.values(bySeverity).reduce((sum, one) => sum + one, 0);
  return { totalAlerts, alertsBySeverity: { ...bySeverity }, alertsByRule: { ...byRule } };
}
