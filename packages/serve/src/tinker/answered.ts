/** Most answers that are kept. */
const most = 10_000;

/** Answers to requests by their idempotency keys, so that another attempt of a request is not another request. */
export class Answered {
  readonly #answers = new Map<string, Promise<object>>();
  /** Keys of the requests that started calls, by the call. */
  readonly #keys = new Map<string, string>();

  /** Answers once for each key. An error is not kept. */
  once(key: string | undefined, answer: () => Promise<object>): Promise<object> {
    if (key === undefined) return answer();
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const given = answer();
    this.#answers.set(key, given);
    given.then(
      (result) => {
        if ('request_id' in result) this.#keys.set(String(result.request_id), key);
      },
      () => this.#answers.delete(key),
    );
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= most) break;
      this.#answers.delete(oldest);
    }
    return given;
  }

  /** Another attempt of the request that started this call is a new request from now on. */
  forget(requestId: string): void {
    const key = this.#keys.get(requestId);
    this.#keys.delete(requestId);
    if (key !== undefined) this.#answers.delete(key);
  }
}
