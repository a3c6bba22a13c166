import type { Task } from './task.ts';

/** Names a snapshot of a world. Equal content has equal ids, so that equal states are equal. */
export type SnapshotId = string;

/** A live world of one episode, such as a folder, a database or a browser. Kinds of worlds add what tools need to act in it. */
export interface OpenWorld {
  /** Stores what the world is now. Changes nothing in it. */
  snapshot(signal?: AbortSignal): Promise<SnapshotId>;
  /** Frees what it holds. May be called again. Snapshots stay. */
  close(): Promise<void>;
}

/**
 * A kind of world that is not a value. Its snapshots have ids, and ids are values: the state of an environment holds one.
 *
 * `open` and `restore` never give a live world that another caller has. So episodes that fork from one state do not meet.
 */
export interface World<Live extends OpenWorld = OpenWorld, Metadata = unknown> {
  /** A new world for a task. Equal arguments give worlds with equal snapshots. */
  open(task: Task<Metadata>, seed: number, signal?: AbortSignal): Promise<Live>;
  /** A new live world with the content of a snapshot. Rejects with an `EnvironmentError` if the snapshot is unknown. */
  restore(id: SnapshotId, signal?: AbortSignal): Promise<Live>;
}

/** Counts of a pool of live worlds since it was made. */
export interface WorldPoolStatistics {
  /** Live worlds now. */
  readonly open: number;
  /** Those of them that nobody uses. */
  readonly idle: number;
  /** Turns that wait for a world now. */
  readonly waiting: number;
  /** Worlds that were opened for a task. */
  readonly opened: number;
  /** Worlds that were restored from a snapshot. */
  readonly restored: number;
  /** Turns that found a live world as they needed it. */
  readonly reused: number;
  /** Worlds that could not be closed. */
  readonly leaked: number;
}
