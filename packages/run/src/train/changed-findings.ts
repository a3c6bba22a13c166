import type { Finding, Severity } from '@rlp/core';
import { plural } from '@rlp/core';

/** Iterations without a finding after which it counts as new. */
const absence = 20;

interface Standing {
  severity: Severity;
  /** Iteration that had it last. */
  last: number;
  /** Iterations that had it and were not written. */
  repeated: number;
}

/** Tells findings that are new from those that repeat at every iteration. */
export class ChangedFindings {
  readonly #standing = new Map<string, Standing>();

  /** Whether a finding has another severity than before, or was not there for a while. */
  isChange(step: number, { rule, component, severity }: Finding): boolean {
    const key = component === undefined ? rule : `${rule} of '${component}'`;
    const known = this.#standing.get(key);
    const isNew = known === undefined || known.severity !== severity || step - known.last > absence;
    const repeated = (known?.repeated ?? 0) + (isNew ? 0 : 1);
    this.#standing.set(key, { severity, last: step, repeated });
    return isNew;
  }

  /** A sentence about each finding that was repeated. */
  get summary(): readonly string[] {
    const repeated = [...this.#standing].filter(([, standing]) => standing.repeated > 0);
    return repeated.map(
      ([key, { repeated, last }]) =>
        `${key} was found ${plural(repeated, 'more time')}, last in iteration ${last}`,
    );
  }
}
