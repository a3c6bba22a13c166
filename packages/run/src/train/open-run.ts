import type { MetricsLogger } from '@rlp/core';
import type { Lease } from '@rlp/data/store';
import type { LanguageModel } from '@rlp/models';
import type { Engine } from '@rlp/onnx/runtime';
import type { ConsoleStream } from '@rlp/tracking';
import type { RunFiles } from '../folder/run-files.ts';
import type { RunRecord } from '../folder/run-record.ts';
import { writeJson } from '../folder/write-json.ts';
import type { PreparedRun } from './prepare.ts';

/** A run under way. */
export interface OpenRun {
  readonly prepared: PreparedRun;
  readonly files: RunFiles;
  readonly engine: Engine;
  readonly stream: ConsoleStream;
  readonly clock: () => number;
  readonly signal: AbortSignal;
  /** Another place for what the run logs. */
  readonly logger: MetricsLogger | undefined;
  /** What `run.json` holds. */
  readonly journal: Journal;
  /** Model after the last finished stage. */
  model: LanguageModel;
}

/** `run.json`, and the time that the run takes. */
export class Journal {
  readonly #path: string;
  readonly #clock: () => number;
  readonly #date: () => Date;
  readonly #lease: Pick<Lease, 'check'>;
  readonly #begun: number;
  #record: RunRecord;

  constructor(
    path: string,
    record: RunRecord,
    time: { readonly clock: () => number; readonly date: () => Date; readonly lease: Pick<Lease, 'check'> },
  ) {
    this.#path = path;
    this.#record = record;
    this.#clock = time.clock;
    this.#date = time.date;
    this.#lease = time.lease;
    this.#begun = time.clock() - 1000 * record.seconds;
  }

  get record(): RunRecord {
    return this.#record;
  }

  /** @throws what `Lease.check` throws if this process has lost the run's folder. */
  requireFolder(): Promise<void> {
    return this.#lease.check();
  }

  /** Writes what changed. @throws what {@link requireFolder} throws. */
  async update(change: Partial<RunRecord> = {}): Promise<void> {
    await this.requireFolder();
    const seconds = (this.#clock() - this.#begun) / 1000;
    this.#record = { ...this.#record, ...change, seconds, updatedAt: this.#date().toISOString() };
    await writeJson(this.#path, this.#record);
  }
}

/** Prints a line for people. */
export function say({ stream }: Pick<OpenRun, 'stream'>, line: string): void {
  stream.write(`${line}\n`);
}
