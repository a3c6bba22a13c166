import { findingSchema, type Monitor, type MonitorBatch, type Severity } from '../monitor.ts';
import { describe, expect, it } from './vitest.ts';

/** What the suite needs from an implementation. */
export interface MonitorSubject {
  /** A fresh monitor. All of them configured alike. */
  readonly create: () => Monitor;
  /** Batches to observe in this order. At least two, and enough of them that something is found. */
  readonly batches: readonly MonitorBatch[];
}

const severities: readonly Severity[] = ['critical', 'high', 'medium', 'low'];

/**
 * Contract of {@link Monitor}. Run it on every implementation.
 *
 * @param name - Names the implementation in the report.
 */
export function describeMonitor(name: string, { create, batches }: MonitorSubject): void {
  const observeAll = (monitor: Monitor) => batches.map((batch) => monitor.observe(batch));

  describe(`${name} is a Monitor`, () => {
    it('reports the same of the same history', () => {
      expect(observeAll(create())).toEqual(observeAll(create()));
    });

    it('gives finite metrics and valid findings, the most severe first', () => {
      const reports = observeAll(create());
      expect(reports.some(({ findings }) => findings.length > 0)).toBe(true);
      reports.forEach(({ metrics, findings }, index) => {
        expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
        for (const finding of findings) {
          expect(findingSchema.parse(finding)).toEqual(finding);
          expect(finding.iteration).toBe(batches[index]?.iteration);
        }
        const order = findings.map(({ severity }) => severities.indexOf(severity));
        expect(order).toEqual([...order].sort((a, b) => a - b));
      });
    });

    it('leaves what it observes as it was', () => {
      const before = structuredClone(batches);
      observeAll(create());
      expect(batches).toEqual(before);
    });

    it('continues from a saved state as if it had never stopped', () => {
      const whole = observeAll(create());
      const first = create();
      first.observe(batches[0]!);
      const second = create();
      second.loadState(JSON.parse(JSON.stringify(first.saveState())));
      expect(batches.slice(1).map((batch) => second.observe(batch))).toEqual(whole.slice(1));
    });

    it('goes on where the policy was rolled back, from a saved state too', () => {
      const [first, second] = [create(), create()];
      observeAll(first);
      first.rolledBack?.();
      second.loadState(JSON.parse(JSON.stringify(first.saveState())));
      const next = { ...batches[0]!, iteration: batches.at(-1)!.iteration + 1 };
      expect(second.observe(next)).toEqual(first.observe(next));
    });

    it('refuses a state that is none', () => {
      expect(() => create().loadState('not a state')).toThrow(
        expect.objectContaining({ name: 'FormatError' }),
      );
    });

    it('reports on a batch without trajectories', () => {
      expect(create().observe({ iteration: 0, trajectories: [] }).findings).toEqual([]);
    });
  });
}
