import type { Severity } from '@rlp/core';

/** Counts of alerts as JSON data; what there was none of is left out. */
interface AlertCountsState {
  readonly bySeverity: Partial<Record<Severity, number>>;
  readonly byType: Record<string, number>;
}

/** How many alerts there were, by severity and by rule. */
export class AlertCounts {
  #bySeverity = new Map<string, number>();
  #byType = new Map<string, number>();

  get total(): number {
    return [...this.#bySeverity.values()].reduce((sum, count) => sum + count, 0);
  }

  add({ severity, pathologyType }: { readonly severity: Severity; readonly pathologyType: string }): void {
    this.#bySeverity.set(severity, (this.#bySeverity.get(severity) ?? 0) + 1);
    this.#byType.set(pathologyType, (this.#byType.get(pathologyType) ?? 0) + 1);
  }

  clear(): void {
    this.loadState({ bySeverity: {}, byType: {} });
  }

  saveState(): AlertCountsState {
    return { bySeverity: Object.fromEntries(this.#bySeverity), byType: Object.fromEntries(this.#byType) };
  }

  loadState({ bySeverity, byType }: AlertCountsState): void {
    this.#bySeverity = new Map(Object.entries(bySeverity));
    this.#byType = new Map(Object.entries(byType));
  }
}
