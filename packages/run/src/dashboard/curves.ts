import { isRecord } from '@rlp/core';
import { type Curve, thinned } from '@rlp/viewer/runs';

/** A metric as it is read. */
interface GrowingCurve {
  readonly steps: number[];
  readonly values: number[];
}

interface NamedCurve extends GrowingCurve {
  readonly name: string;
}

/** A line of the file of metrics. */
interface MetricsRow {
  readonly step: number;
  readonly metrics: Readonly<Record<string, unknown>>;
}

/** Metric that is added up, for curves over tokens. */
const tokens = 'tokens/trained';

/** The curves of a run, as its rows are read. */
export class RunCurves {
  readonly #curves = new Map<string, NamedCurve>();
  /** Curves of the last row, in its order. Most rows have the same metrics, so a curve is rarely looked up by its name. */
  readonly #lastRow: NamedCurve[] = [];
  readonly #spent = { tokens: growing(), seconds: growing() };
  readonly #notFinite = new Map<string, number>();
  /** Curves as they are shown, until a row is added. */
  readonly #shown = new Map<GrowingCurve, Curve>();
  #last = Number.NEGATIVE_INFINITY;
  #rows = 0;

  get metrics(): Iterable<string> {
    return this.#curves.keys();
  }

  get rows(): number {
    return this.#rows;
  }

  /** The first step at which a metric was NaN or infinite, by metric. Such values are in no curve. */
  get notFinite(): ReadonlyMap<string, number> {
    return this.#notFinite;
  }

  /** Curve of a metric, with as many points as a chart shows. */
  of(metric: string): Curve | undefined {
    const curve = this.#curves.get(metric);
    return curve && curve.steps.length > 0 ? this.#thinned(curve) : undefined;
  }

  /** Tokens trained on and seconds up to each step. Absent if the run does not log them. */
  get spent(): { readonly tokens?: Curve; readonly seconds?: Curve } {
    const known = Object.entries(this.#spent).filter(([, { values }]) => (values.at(-1) ?? 0) > 0);
    return Object.fromEntries(known.map(([name, curve]) => [name, this.#thinned(curve)]));
  }

  /** Adds a line of the file of metrics. @returns whether it was one. */
  add(text: string): boolean {
    if (text.trim() === '') return true;
    const row = metricsRow(text);
    if (row === undefined) return false;
    this.addRow(row);
    return true;
  }

  addRow(row: MetricsRow): void {
    if (this.#shown.size > 0) this.#shown.clear();
    // A run that was resumed makes the iterations after its checkpoint again.
    if (row.step <= this.#last) this.#forget(row.step);
    this.#last = row.step;
    this.#rows += 1;
    this.#addMetrics(row.step, row.metrics);
  }

  clear(): void {
    this.#curves.clear();
    this.#shown.clear();
    this.#lastRow.length = 0;
    this.#forget(Number.NEGATIVE_INFINITY);
    this.#last = Number.NEGATIVE_INFINITY;
  }

  #thinned(curve: GrowingCurve): Curve {
    const shown = this.#shown.get(curve) ?? thinned({ steps: curve.steps, values: curve.values });
    this.#shown.set(curve, shown);
    return shown;
  }

  #addMetrics(step: number, metrics: Readonly<Record<string, unknown>>): void {
    let [place, seconds] = [0, 0];
    // Parsed JSON has no inherited fields. `Object.entries` takes twice as long.
    for (const name in metrics) {
      const value = metrics[name];
      if (typeof value !== 'number') {
        if (isNotFinite(value) && !this.#notFinite.has(name)) this.#notFinite.set(name, step);
        continue;
      }
      const curve = this.#curveAt(place++, name);
      curve.steps.push(step);
      curve.values.push(value);
      if (name.startsWith('time/')) seconds += value / 1000;
    }
    const trained = metrics[tokens];
    grow(this.#spent.tokens, step, typeof trained === 'number' ? trained : 0);
    grow(this.#spent.seconds, step, seconds);
  }

  /** The curve of a metric that has this place in its row. */
  #curveAt(place: number, name: string): NamedCurve {
    const last = this.#lastRow[place];
    if (last?.name === name) return last;
    let curve = this.#curves.get(name);
    if (curve === undefined) {
      curve = { name, ...growing() };
      this.#curves.set(name, curve);
    }
    this.#lastRow[place] = curve;
    return curve;
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
    for (const [name, first] of this.#notFinite) if (first >= step) this.#notFinite.delete(name);
  }
}

/** Numbers that JSON does not have, as the file of metrics names them. */
function isNotFinite(value: unknown): boolean {
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity';
}

function growing(): GrowingCurve {
  return { steps: [], values: [] };
}

/** Adds an amount to a running sum. */
function grow({ steps, values }: GrowingCurve, step: number, amount: number): void {
  steps.push(step);
  values.push((values.at(-1) ?? 0) + amount);
}

/** A row of metrics in a line. `undefined` if the line is none. */
export function metricsRow(text: string): MetricsRow | undefined {
  try {
    // Of a log among the rows, each error of the parser would take longer than a row.
    const row: unknown = text.trimStart().startsWith('{') ? JSON.parse(text) : undefined;
    if (!isRecord(row) || typeof row.step !== 'number' || !isRecord(row.metrics)) return undefined;
    return { step: row.step, metrics: row.metrics };
  } catch {
    return undefined;
  }
}
