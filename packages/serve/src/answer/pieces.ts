/** Values that a producer adds and one consumer reads. */
export class Pieces<Value> implements AsyncIterable<Value> {
  readonly #waiting: Value[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake: () => void = () => undefined;

  add(value: Value): void {
    this.#waiting.push(value);
    this.#wake();
  }

  /** Ends the values, with an error if there is one. */
  end(end: { readonly error?: unknown } = {}): void {
    this.#end ??= end;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value, void, undefined> {
    while (true) {
      while (this.#waiting.length > 0) yield this.#waiting.shift()!;
      if (this.#end !== undefined) {
        if ('error' in this.#end) throw this.#end.error;
        return;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
