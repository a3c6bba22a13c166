import type { Finding } from '@rlp/core';

/** Alert counts as JSON data. Severities and rules without alerts are omitted. */
interface AlertCountsState {
  readonly bySeverity: Partial<Record<Finding['severity'], number>>;
  readonly byRule: Record<string, number>;
}

/** Counts alerts by severity and by rule. */
export class AlertCounts {
  #bySeverity = new Map<string, number>();
  #byRule = new Map<string, number>();

  get total(): number {
    return [...this.#bySeverity.values()].reduce((sum, count) => sum + count, 0);
  }

  add({ severity, rule }: Pick<Finding, 'severity' | 'rule'>): void {
    this.#bySeverity.set(severity, (this.#bySeverity.get(severity) ?? 0) + 1);
    this.#byRule.set(rule, (this.#byRule.get(rule) ?? 0) + 1);
  }

  clear(): void {
    this.loadState({ bySeverity: {}, byRule: {} });
  }

  saveState(): AlertCountsState {
    return { bySeverity: Object.fromEntries(this.#bySeverity), byRule: Object.fromEntries(this.#byRule) };
  }

  loadState({ bySeverity, byRule }: AlertCountsState): void {
    this.#bySeverity = new Map(Object.entries(bySeverity));
    this.#byRule = new Map(Object.entries(byRule));
  }
}
