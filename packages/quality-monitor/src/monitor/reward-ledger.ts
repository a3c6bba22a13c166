import type { RewardQualityMonitor } from './monitor.ts';

/** Responses that wait for further rewards. Beyond it, all are assessed as they are. */
const mostIncomplete = 1024;

/** A response that was scored. */
export interface LedgerEntry {
  readonly response: string;
  /** Its prompt, if the reward was given it. */
  readonly prompt?: string | undefined;
}

interface Row {
  readonly response: string;
  prompt: string | undefined;
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
  readonly #incomplete = new Map<string, Row[]>();
  #incompleteRows = 0;
  #complete: Row[] = [];
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
    return this.#rows().filter(({ rewards }) => rewards.has(name)).length;
  }

  /** Adds a score. Assesses once `interval` responses have all their rewards. */
  add(name: string, { response, prompt }: LedgerEntry, reward: number | null, interval: number): void {
    const waiting = this.#incomplete.get(response) ?? [];
    const row = waiting.find(({ rewards }) => !rewards.has(name)) ?? this.#begin(response, waiting);
    row.rewards.set(name, reward);
    row.prompt ??= prompt;
    if (row.rewards.size >= this.#names.size) this.#complete.push(this.#taken(row, waiting));
    if (this.#complete.length >= interval) this.#assess(this.#complete.splice(0));
    else if (this.#incompleteRows > mostIncomplete) this.flush();
  }

  /** Assesses everything. Rewards that a response lacks count as missing. */
  flush(): void {
    const rows = this.#rows();
    this.#complete = [];
    this.#incomplete.clear();
    this.#incompleteRows = 0;
    if (rows.length > 0) this.#assess(rows);
  }

  #rows(): Row[] {
    return [...this.#complete, ...[...this.#incomplete.values()].flat()];
  }

  #begin(response: string, waiting: Row[]): Row {
    const row: Row = { response, prompt: undefined, rewards: new Map() };
    waiting.push(row);
    this.#incomplete.set(response, waiting);
    this.#incompleteRows += 1;
    return row;
  }

  /** Takes a row out of those that wait. */
  #taken(row: Row, waiting: Row[]): Row {
    waiting.splice(waiting.indexOf(row), 1);
    if (waiting.length === 0) this.#incomplete.delete(row.response);
    this.#incompleteRows -= 1;
    return row;
  }

  #assess(rows: readonly Row[]): void {
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
