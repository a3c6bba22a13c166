/** The promises in the order in which they settle. */
export async function* asFinished<Value>(promises: readonly Promise<Value>[]): AsyncGenerator<Value> {
  const settled: Promise<Value>[] = [];
  let wake: (() => void) | undefined;
  for (const promise of promises) {
    const settle = () => {
      settled.push(promise);
      wake?.();
    };
    promise.then(settle, settle);
  }
  for (const _ of promises) {
    if (settled.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    yield await settled.shift()!;
  }
}
