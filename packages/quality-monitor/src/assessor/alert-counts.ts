import type { Finding, Severity } from '@rlp/core';
import * as z from 'zod';

/** From the least to the most severe. */
export const severities = ['low', 'medium', 'high', 'critical'] as const satisfies readonly Severity[];

const count = z.int().nonnegative();

/** Numbers of alerts by severity and by rule. What did not occur is absent. */
export const alertCounts = {
  bySeverity: z.partialRecord(z.enum(severities), count),
  byRule: z.record(z.string(), count),
};

const schema = z.strictObject(alertCounts);

type AlertCounts = z.output<typeof schema>;

export function noAlerts(): AlertCounts {
  return { bySeverity: {}, byRule: {} };
}

export function countAlert({ bySeverity, byRule }: AlertCounts, { severity, rule }: Finding): void {
  bySeverity[severity] = (bySeverity[severity] ?? 0) + 1;
  byRule[rule] = (byRule[rule] ?? 0) + 1;
}

export function totalOf({ bySeverity }: AlertCounts): number {
  return Object.values(bySeverity).reduce((sum, one) => sum + one, 0);
}
