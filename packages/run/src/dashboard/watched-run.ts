import { readdir } from 'node:fs/promises';
import { messageOf } from '@rlp/core';
import { type Curve, type RunView, thinned } from '@rlp/viewer/runs';
import { runFiles } from '../folder/run-files.ts';
import { placesOf, type RunRecord, readRunRecord } from '../folder/run-record.ts';
import { RunCurves } from './curves.ts';
import { RunEvaluations } from './evaluations.ts';
import { FollowedFile } from './followed-file.ts';
import { allNotes, RunNotes } from './notes.ts';

/** Problems of a run that are told. */
const mostProblems = 5;

/** The folder of a run as it grows. */
export class WatchedRun {
  readonly name: string;
  readonly directory: string;
  readonly curves = new RunCurves();
  /** Notes of each file, because one of them can be written anew. */
  readonly #notes = { metrics: new RunNotes('a row of metrics'), notes: new RunNotes('a note or a finding') };
  readonly #evaluations: RunEvaluations;
  readonly #metricsFile: FollowedFile;
  readonly #notesFile: FollowedFile;
  #record: RunRecord | undefined;
  #problems: readonly string[] = [];
  #hasTrajectories = false;
  #isReading = true;

  constructor(name: string, directory: string) {
    const files = runFiles(directory);
    this.name = name;
    this.directory = directory;
    this.#evaluations = new RunEvaluations(files.evaluations);
    this.#metricsFile = new FollowedFile(files.metrics);
    this.#notesFile = new FollowedFile(files.notes);
  }

  /** What could not be read, and metrics that are not finite. */
  get problems(): readonly string[] {
    const broken = [...this.#notes.metrics.broken, ...this.#notes.notes.broken];
    const more = broken.length - mostProblems;
    return [
      ...this.#problems,
      ...broken.slice(0, mostProblems),
      ...(more > 0 ? [`${this.directory}: ${more} more lines are broken`] : []),
      ...Array.from(
        this.curves.notFinite,
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

  /** Reads rows of metrics, notes and findings that were added. @returns whether there are any. */
  async readRows(): Promise<boolean> {
    try {
      return await this.#readRows();
    } finally {
      this.#isReading = false;
    }
  }

  async #readRows(): Promise<boolean> {
    const { metrics: inMetrics, notes: inNotes } = this.#notes;
    const metrics = await this.#metricsFile.read(
      // A `JsonlLogger` that is the only logger of a program also has the notes in this file.
      (text, line) => this.curves.add(text) || inMetrics.add(text, this.#metricsFile.path, line),
      () => {
        this.curves.clear();
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
    const { tokens, seconds } = this.curves.spent;
    return {
      name: this.name,
      mode: record?.mode,
      status: record?.status,
      problem: record?.problem,
      startedAt: record?.startedAt,
      seconds: record?.seconds,
      iterations: this.curves.rows,
      isReading: this.#isReading,
      configuration: record === undefined ? {} : Object.fromEntries(placesOf(config)),
      seed: record?.seeds.run ?? (seed === undefined ? undefined : String(seed)),
      host: record && `${record.host.cpu}, ${record.host.cores} cores`,
      spent: spentOf(tokens, seconds),
      scores: this.#evaluations.scores,
      notes: allNotes(this.#notes.metrics, this.#notes.notes),
      samples: this.#evaluations.samples,
      hasTrajectories: this.#hasTrajectories,
    };
  }
}

function spentOf(tokens: Curve | undefined, seconds: Curve | undefined): RunView['spent'] {
  return { ...(tokens && { tokens: thinned(tokens) }), ...(seconds && { seconds: thinned(seconds) }) };
}
