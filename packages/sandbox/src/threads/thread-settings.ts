/** Settings of new threads. */
export interface ThreadSettings {
  /** The thread's program: a module that calls `serveThread`. TypeScript is loaded with `tsx`. */
  readonly program: URL;
  /** `workerData` of the thread. */
  readonly data: object;
  /** Name of the thread in debuggers. */
  readonly name: string;
  /** `'process'`: a separate process, whose end takes nothing with it. Heap and stack are then not limited. Default `'thread'`. */
  readonly kind?: 'thread' | 'process' | undefined;
  /** Time for a thread to become ready, in milliseconds. */
  readonly startMs: number;
  /** Heap of a thread in MB. Default: Node's limit. */
  readonly heapMb?: number | undefined;
  /** Stack of a thread in MB. Default: Node's, 4. */
  readonly stackMb?: number | undefined;
  /** `'none'`: no environment variables, no flags of the process, and no output. Default `'inherited'`. */
  readonly surroundings?: 'inherited' | 'none' | undefined;
}
