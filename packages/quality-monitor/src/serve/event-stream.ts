import type { ServerResponse } from 'node:http';

/** A reader of the page. A slow reader misses updates. The run never waits for it. */
export class EventStream {
  readonly #response: ServerResponse;
  #state: 'ready' | 'full' | 'over' = 'ready';
  /** Newest event that is not sent yet. */
  #waiting: string | undefined;

  /** @param onEnd - Called once when the reader is gone. */
  constructor(response: ServerResponse, onEnd: () => void) {
    this.#response = response;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    response.on('drain', () => this.#drained());
    response.on('close', () => {
      this.#state = 'over';
      onEnd();
    });
  }

  /** Sends an event, or keeps it as the newest until the reader has caught up. */
  send(name: string, data: unknown): void {
    const event = `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
    if (this.#state === 'full') this.#waiting = event;
    if (this.#state !== 'ready') return;
    if (!this.#response.write(event)) this.#state = 'full';
  }

  /** Sends the newest event and the end. */
  end(): void {
    this.#response.end(`${this.#waiting ?? ''}event: end\ndata: {}\n\n`);
  }

  #drained(): void {
    if (this.#state !== 'full') return;
    this.#state = 'ready';
    const event = this.#waiting;
    this.#waiting = undefined;
    if (event !== undefined && !this.#response.write(event)) this.#state = 'full';
  }
}
