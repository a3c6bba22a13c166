/** A request that another one may end. */
export interface RunningRequest {
  /** Aborts with the client, or when the request is ended by its name. */
  readonly signal: AbortSignal;
  /** Whether it was ended by its name. */
  readonly wasAborted: boolean;
  readonly close: () => void;
}

/** Requests under way, by the names that clients gave them. */
export class RunningRequests {
  readonly #open = new Set<{ readonly name: string; readonly stop: AbortController }>();

  open(name: string, client: AbortSignal): RunningRequest {
    const stop = new AbortController();
    const entry = { name, stop };
    this.#open.add(entry);
    return {
      signal: AbortSignal.any([client, stop.signal]),
      get wasAborted() {
        return stop.signal.aborted;
      },
      close: () => this.#open.delete(entry),
    };
  }

  /** Ends the requests whose name begins with this one, as SGLang does. All for `''`. */
  abort(name: string): void {
    for (const { name: own, stop } of this.#open) {
      if (own.startsWith(name)) stop.abort(new DOMException('aborted by the client', 'AbortError'));
    }
  }
}
