import type { RewardQualityMonitor } from './monitor.ts';

/** Responses that wait for further rewards. Beyond it, all are assessed as they are. */
const mostIncomplete = 1024;

/** A response that was scored. */
export interface LedgerEntry {
  readonly response: string;
  /** Its prompt, if the reward was given it. */
  prompt?: string | undefined;
}

interface Row extends LedgerEntry {
  readonly rewards: Map<string, number | null>;
}

/**
 * Collects what reward functions score until their monitor assesses it.
 *
 * A response is assessed with the rewards of all functions, in any order of calls and results. If a text occurs several times,
 * the n-th score of one function belongs to the n-th score of the others.
 */
export class RewardLedger {
  readonly #monitor: RewardQualityMonitor;
  readonly #names = new Set<string>();
  readonly #complete: Row[] = [];
  readonly #incomplete: Row[] = [];
  #assessed = 0;

  constructor(monitor: RewardQualityMonitor) {
    this.#monitor = monitor;
  }

  /** Makes responses wait for this reward too. */
  join(name: string): void {
    this.#names.add(name);
  }

  /** Responses with this reward that are not assessed yet. */
  pending(name: string): number {
    return [...this.#complete, ...this.#incomplete].filter(({ rewards }) => rewards.has(name)).length;
  }

  /** Adds a score. Assesses once `interval` responses have all their rewards. */
  add(name: string, { response, prompt }: LedgerEntry, reward: number | null, interval: number): void {
    const waiting = this.#incomplete;
    let at = waiting.findIndex((row) => row.response === response && !row.rewards.has(name));
    if (at < 0) at = waiting.push({ response, prompt, rewards: new Map() }) - 1;
    const row = waiting[at]!;
    row.rewards.set(name, reward);
    row.prompt ??= prompt;
    if (row.rewards.size >= this.#names.size) this.#complete.push(...waiting.splice(at, 1));
    if (this.#complete.length >= interval) this.#assess(this.#complete.splice(0));
    else if (waiting.length > mostIncomplete) this.flush();
  }

  /** Assesses everything. Rewards that a response lacks count as missing. */
  flush(): void {
    this.#assess([...this.#complete.splice(0), ...this.#incomplete.splice(0)]);
  }

  #assess(rows: readonly Row[]): void {
    if (rows.length === 0) return;
    this.#assessed += rows.length;
    const names = [...this.#names].filter((name) => rows.some(({ rewards }) => rewards.has(name)));
    const valuesOf = (name: string) => rows.map(({ rewards }) => rewards.get(name) ?? null);
    const prompts = rows.flatMap(({ prompt }) => prompt ?? []);
    this.#monitor.monitorBatch({
      responses: rows.map(({ response }) => response),
      ...(prompts.length === rows.length && { prompts }),
      rewards: Object.fromEntries(names.map((name) => [name, valuesOf(name)])),
      step: Math.max(this.#assessed, this.#monitor.step + 1),
    });
  }
}

const ledgers = new WeakMap<RewardQualityMonitor, RewardLedger>();

/** The ledger of all functions of a monitor. */
export function ledgerOf(monitor: RewardQualityMonitor): RewardLedger {
  const ledger = ledgers.get(monitor) ?? new RewardLedger(monitor);
  ledgers.set(monitor, ledger);
  return ledger;
}
