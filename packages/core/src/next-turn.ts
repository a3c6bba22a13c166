/** What is read of a page. TypeScript declares it only together with the whole DOM. */
interface Scheduling {
  readonly setImmediate?: (act: () => void) => unknown;
}

/**
 * Calls `act` in the next turn of the event loop, after what waits already.
 *
 * Pages have no `setImmediate`, and their timers wait for milliseconds. A message between two ports does not.
 */
export function inNextTurn(act: () => void): void {
  const { setImmediate } = globalThis as Scheduling;
  if (setImmediate !== undefined) return void setImmediate(act);
  const { port1, port2 } = new MessageChannel();
  const received = () => {
    port1.close();
    act();
  };
  port1.addEventListener('message', received);
  port1.start();
  port2.postMessage(undefined);
}

/** Resolves in the next turn of the event loop; see {@link inNextTurn}. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => inNextTurn(resolve));
}
