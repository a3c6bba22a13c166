/**
 * Disables every `AsyncLocalStorage` after each file of tests. As long as one is in use, Node before 24 follows every promise.
 * Playwright and some agent frameworks begin to use one, and never end it. A server that a file leaves running loses its context.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll } from 'vitest';

const used = Symbol.for('rlp.used-storages');
const globals = globalThis as { [used]?: Set<AsyncLocalStorage<unknown>> };

// The files of a worker share its process, and each of them comes here.
if (!globals[used]) {
  const storages = new Set<AsyncLocalStorage<unknown>>();
  globals[used] = storages;
  for (const name of ['run', 'enterWith'] as const) {
    const method = AsyncLocalStorage.prototype[name] as (...given: unknown[]) => unknown;
    Object.defineProperty(AsyncLocalStorage.prototype, name, {
      value(this: AsyncLocalStorage<unknown>, ...given: unknown[]) {
        storages.add(this);
        return method.apply(this, given);
      },
    });
  }
}

afterAll(() => {
  for (const storage of globals[used]!) storage.disable();
  globals[used]!.clear();
});
