import { isRecord } from '@rlp/core';

/** A metric as it is read. */
interface GrowingCurve {
  readonly steps: number[];
  readonly values: number[];
}

/** Metrics that are added up, for curves over tokens and seconds. */
const tokens = 'tokens/trained';

/** The curves of a run, as its rows are read. */
export class RunCurves {
  readonly #curves = new Map<string, GrowingCurve>();
  readonly #spent = { tokens: growing(), seconds: growing() };
  #last = -1;
  #rows = 0;

  get metrics(): Iterable<string> {
    return this.#curves.keys();
  }

  get rows(): number {
    return this.#rows;
  }

  of(metric: string): GrowingCurve | undefined {
    return this.#curves.get(metric);
  }

  /** Tokens trained on and seconds up to each step. Absent if the run does not log them. */
  get spent(): { readonly tokens?: GrowingCurve; readonly seconds?: GrowingCurve } {
    const known = Object.entries(this.#spent).filter(([, { values }]) => (values.at(-1) ?? 0) > 0);
    return Object.fromEntries(known);
  }

  /** Adds a line of the file of metrics. @returns whether it was one. */
  add(text: string): boolean {
    if (text.trim() === '') return true;
    const row = parsed(text);
    if (row === undefined) return false;
    // A run that was resumed makes the iterations after its checkpoint again.
    if (row.step <= this.#last) this.#forget(row.step);
    this.#last = row.step;
    this.#rows += 1;
    let seconds = 0;
    for (const [name, value] of Object.entries(row.metrics)) {
      if (typeof value !== 'number') continue;
      if (name.startsWith('time/')) seconds += value / 1000;
      this.#push(name, row.step, value);
    }
    const trained = row.metrics[tokens];
    grow(this.#spent.tokens, row.step, typeof trained === 'number' ? trained : 0);
    grow(this.#spent.seconds, row.step, seconds);
    return true;
  }

  clear(): void {
    this.#forget(-1);
    this.#last = -1;
    this.#rows = 0;
  }

  #push(name: string, step: number, value: number): void {
    let curve = this.#curves.get(name);
    if (curve === undefined) {
      curve = growing();
      this.#curves.set(name, curve);
    }
    curve.steps.push(step);
    curve.values.push(value);
  }

  /** Drops a step and all later ones. */
  #forget(step: number): void {
    let rows = 0;
    for (const { steps, values } of [...this.#curves.values(), ...Object.values(this.#spent)]) {
      const kept = steps.findLastIndex((earlier) => earlier < step) + 1;
      steps.length = kept;
      values.length = kept;
      rows = Math.max(rows, kept);
    }
    this.#rows = rows;
  }
}

function growing(): GrowingCurve {
  return { steps: [], values: [] };
}

/** Adds an amount to a running sum. */
function grow({ steps, values }: GrowingCurve, step: number, amount: number): void {
  steps.push(step);
  values.push((values.at(-1) ?? 0) + amount);
}

function parsed(text: string) {
  try {
    const row: unknown = JSON.parse(text);
    if (!isRecord(row) || typeof row.step !== 'number' || !isRecord(row.metrics)) return undefined;
    return { step: row.step, metrics: row.metrics };
  } catch {
    return undefined;
  }
}
