import type { InferenceEngine, Sampler, TokenScorer } from '@rlp/core';
import { messageOf } from '@rlp/core';

/** An engine of a fleet. Without `scoreTokens` it samples only. */
export type FleetEngine = Sampler & InferenceEngine & Partial<TokenScorer>;

/** State of an engine, for display. */
export interface FleetStatus {
  /** `'serving'` gets requests. `'resting'` failed and is tried again later. */
  readonly state: 'serving' | 'resting';
  /** Number of its requests. */
  readonly load: number;
  readonly policyVersion: number;
  /** Failures since the last success. */
  readonly failures: number;
  /** Message of the last failure. */
  readonly reason?: string | undefined;
}

/** What a fleet tracks about one engine. */
export class FleetMember {
  readonly engine: FleetEngine;
  load = 0;
  failures = 0;
  /** Time at which it may be tried again, in milliseconds of the fleet's clock. */
  restsUntil: number | undefined;
  reason: string | undefined;
  revival: Promise<void> | undefined;

  constructor(engine: FleetEngine) {
    this.engine = engine;
  }

  get isServing(): boolean {
    return this.restsUntil === undefined;
  }

  fail(error: unknown, now: number, { firstMs, longestMs }: { firstMs: number; longestMs: number }): void {
    this.failures += 1;
    this.reason = messageOf(error);
    this.restsUntil = now + Math.min(longestMs, firstMs * 2 ** (this.failures - 1));
  }

  recover(): void {
    this.failures = 0;
    this.restsUntil = undefined;
    this.reason = undefined;
  }

  get status(): FleetStatus {
    const { load, failures, reason } = this;
    const { policyVersion } = this.engine;
    return { state: this.isServing ? 'serving' : 'resting', load, policyVersion, failures, reason };
  }
}
