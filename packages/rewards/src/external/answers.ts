/** The latest answers of a reward model; the one not used for longest goes first. */
export class Answers {
  readonly #capacity: number;
  readonly #answers = new Map<string, number | null>();
  /** The keys, from the oldest on. One iterator throughout: a new one would pass over all that was deleted before. */
  readonly #oldest = this.#answers.keys();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The answer to a request, `undefined` where there is none. */
  get(request: string): number | null | undefined {
    const answer = this.#answers.get(request);
    if (answer === undefined) return undefined;
    this.#answers.delete(request);
    this.#answers.set(request, answer);
    return answer;
  }

  set(request: string, answer: number | null): void {
    this.#answers.delete(request);
    this.#answers.set(request, answer);
    if (this.#answers.size > this.#capacity) this.#answers.delete(this.#oldest.next().value!);
  }
}
