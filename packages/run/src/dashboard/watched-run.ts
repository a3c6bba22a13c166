import { open, readdir, stat } from 'node:fs/promises';
import { messageOf, plural } from '@rlp/core';
import type { RunView } from '@rlp/viewer/runs';
import { runFiles } from '../folder/run-files.ts';
import { placesOf, type RunRecord, readRunRecord } from '../folder/run-record.ts';
import { metricsRow, RunCurves } from './curves.ts';
import { RunEvaluations } from './evaluations.ts';
import { FollowedFile } from './followed-file.ts';
import { allNotes, RunNotes } from './notes.ts';
import { overviewRows } from './overview.ts';

/** Problems of a run that are told. */
const mostProblems = 5;
/** Bytes of rows that are read at once instead of an overview. */
const quicklyRead = 1_048_576;

/** The folder of a run as it grows. */
export class WatchedRun {
  readonly name: string;
  readonly directory: string;
  readonly #curves = new RunCurves();
  /** Notes of each file, because one of them can be written anew. */
  readonly #notes = { metrics: new RunNotes('a row of metrics'), notes: new RunNotes('a note or a finding') };
  readonly #evaluations: RunEvaluations;
  readonly #metricsFile: FollowedFile;
  readonly #notesFile: FollowedFile;
  #record: RunRecord | undefined;
  #problems: readonly string[] = [];
  #hasTrajectories = false;
  #isReading = true;
  /** Some of the rows, until all are read. */
  #overview: RunCurves | undefined;

  constructor(name: string, directory: string) {
    const files = runFiles(directory);
    this.name = name;
    this.directory = directory;
    this.#evaluations = new RunEvaluations(files.evaluations);
    this.#metricsFile = new FollowedFile(files.metrics);
    this.#notesFile = new FollowedFile(files.notes);
  }

  /** All curves, or an overview of them while rows are still being read. */
  get curves(): RunCurves {
    return this.#overview ?? this.#curves;
  }

  /** What could not be read, and metrics that are not finite. */
  get problems(): readonly string[] {
    const broken = [...this.#notes.metrics.broken, ...this.#notes.notes.broken];
    const more = broken.length - mostProblems;
    return [
      ...this.#problems,
      ...broken.slice(0, mostProblems),
      ...(more > 0 ? [`${this.directory}: ${plural(more, 'more line is', 'more lines are')} broken`] : []),
      ...Array.from(
        this.#curves.notFinite,
        ([metric, step]) =>
          `${this.directory}: ${metric} is NaN or infinite at step ${step}, which no curve shows`,
      ),
    ];
  }

  /** Reads the record, the evaluations and whether there are trajectories, which are small. @returns whether any is new. */
  async readState(): Promise<boolean> {
    const files = runFiles(this.directory);
    const before = this.#record?.updatedAt;
    const problems: string[] = [];
    this.#record = await readRunRecord(files.run).catch((error: unknown) => {
      problems.push(messageOf(error));
      return this.#record;
    });
    const evaluations = await this.#evaluations.read();
    const recorded = await readdir(files.trajectories).catch(() => []);
    const hadTrajectories = this.#hasTrajectories;
    this.#hasTrajectories = recorded.some((name) => name.endsWith('.jsonl'));
    this.#problems = [...problems, ...evaluations.problems];
    const isNew = before !== this.#record?.updatedAt || hadTrajectories !== this.#hasTrajectories;
    return isNew || evaluations.isChanged;
  }

  /** Reads rows from all over the file of metrics, or the whole file if it is small. A file that is not there has none. */
  async readOverview(): Promise<void> {
    const { path } = this.#metricsFile;
    const found = await stat(path).catch(() => undefined);
    // To open a pipe would wait for its writer.
    if (!this.#isReading || !found?.isFile()) return;
    if (found.size <= quicklyRead) {
      await this.readRows();
      return;
    }
    await using file = await open(path);
    const overview = new RunCurves();
    for (const row of await overviewRows(file, found.size, metricsRow)) overview.addRow(row);
    this.#overview = overview;
  }

  /** Reads rows of metrics, notes and findings that were added. @returns whether there are any. */
  async readRows(): Promise<boolean> {
    try {
      return await this.#readRows();
    } finally {
      this.#isReading = false;
      this.#overview = undefined;
    }
  }

  async #readRows(): Promise<boolean> {
    const { metrics: inMetrics, notes: inNotes } = this.#notes;
    const metrics = await this.#metricsFile.read(
      // A `JsonlLogger` that is the only logger of a program also has the notes in this file.
      (text, line) => this.#curves.add(text) || inMetrics.add(text, this.#metricsFile.path, line),
      () => {
        this.#curves.clear();
        inMetrics.clear();
      },
    );
    const notes = await this.#notesFile.read(
      (text, line) => inNotes.add(text, this.#notesFile.path, line),
      () => inNotes.clear(),
    );
    return metrics || notes;
  }

  /** What a page shows of it. */
  get view(): RunView {
    const record = this.#record;
    const { seed, output: _, ...config } = (record?.config ?? {}) as Readonly<Record<string, unknown>>;
    return {
      name: this.name,
      mode: record?.mode,
      status: record?.status,
      problem: record?.problem,
      startedAt: record?.startedAt,
      seconds: record?.seconds,
      iterations: this.#curves.rows,
      isReading: this.#isReading,
      isOverview: this.#overview && true,
      configuration: record === undefined ? {} : Object.fromEntries(placesOf(config)),
      seed: record?.seeds.run ?? (seed === undefined ? undefined : String(seed)),
      host: record && `${record.host.cpu}, ${plural(record.host.cores, 'core')}`,
      // Sums need all rows.
      spent: this.#curves.spent,
      scores: this.#evaluations.scores,
      notes: allNotes(this.#notes.metrics, this.#notes.notes),
      samples: this.#evaluations.samples,
      hasTrajectories: this.#hasTrajectories,
    };
  }
}
