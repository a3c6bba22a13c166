import { abortSignal, longestTimerMs, onAbort, parseOptions } from '@rlp/core';
import * as z from 'zod';
import type { HttpExchange } from './exchange.ts';
import { Refusal } from './refusal.ts';

const schema = z.strictObject({
  /** Maximum number of open streams. More are refused with 503. Default 16. */
  maxConnections: z.int().min(1).default(16),
  /** Maximum number of events kept for a slow client. The oldest are dropped. Default 16. */
  maxWaiting: z.int().min(1).default(16),
  /**
   * Milliseconds between the comments that keep idle streams open. A client that needs twice as long to read an event is dropped.
   * Default 15,000.
   */
  keepAliveMs: z.int().min(1).max(longestTimerMs).default(15_000),
  /** Ends all streams. Default: no signal. */
  signal: abortSignal.optional(),
});

/** Options of {@link EventStreams}. */
export interface EventStreamsOptions extends z.input<typeof schema> {}

/** An event of a stream. */
export interface ServerEvent {
  /** Type that `addEventListener` of an `EventSource` names. One line. Default `'message'`. */
  readonly event?: string;
  /** Sent as JSON. */
  readonly data: unknown;
}

/**
 * Streams of Server-Sent Events to many clients.
 *
 * Sending never waits and memory is bounded, however slowly a client reads. A client that leaves frees its place.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export class EventStreams {
  readonly #options: z.output<typeof schema>;
  readonly #streams = new Set<EventStream>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @throws OptionsError naming every problem. */
  constructor(options: EventStreamsOptions = {}) {
    this.#options = parseOptions('EventStreams', schema, options);
    if (this.#options.signal) onAbort(this.#options.signal, () => this.close());
  }

  /** Number of open streams. */
  get size(): number {
    return this.#streams.size;
  }

  /**
   * Opens a stream. Return the response from the handler.
   *
   * @param first - Events that are sent at once, to this client only.
   * @throws Refusal 503 if `maxConnections` streams are open or all streams were closed.
   */
  open(exchange: HttpExchange, ...first: readonly ServerEvent[]): Response {
    if (this.#isClosed) throw new Refusal(503, 'the event streams are closed');
    if (this.size >= this.#options.maxConnections) {
      throw new Refusal(503, `expected at most ${this.#options.maxConnections} open event streams`);
    }
    const stream = new EventStream(this.#options.maxWaiting, exchange);
    this.#streams.add(stream);
    this.#timer ??= setInterval(() => this.#keepAlive(), this.#options.keepAliveMs).unref();
    onAbort(exchange.signal, () => this.#forget(stream));
    for (const event of first) stream.send(encoded(event));
    // Without the explicit encoding the adaptor reads ahead before it answers.
    const headers = {
      'content-type': 'text/event-stream; charset=utf-8',
      'transfer-encoding': 'chunked',
      connection: 'close',
    };
    return new Response(stream.body, { headers });
  }

  /** Sends an event to all clients. */
  send(event: ServerEvent): void {
    const text = encoded(event);
    for (const stream of this.#streams) stream.send(text);
  }

  /** Ends all streams after their waiting events and `last`. New streams are refused. */
  close(...last: readonly ServerEvent[]): void {
    this.#isClosed = true;
    const text = last.map(encoded).join('');
    for (const stream of this.#streams) stream.end(text);
  }

  #keepAlive(): void {
    for (const stream of this.#streams) stream.keepAlive();
  }

  #forget(stream: EventStream): void {
    this.#streams.delete(stream);
    if (this.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** The stream to one client. */
class EventStream {
  /** Read as fast as the client accepts it. */
  readonly body: ReadableStream<Uint8Array>;
  readonly #maxWaiting: number;
  readonly #exchange: HttpExchange;
  readonly #encoder = new TextEncoder();
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #waiting: string[] = [];
  #state: 'ready' | 'busy' | 'stalled' | 'over' = 'busy';
  #last: string | undefined;

  constructor(maxWaiting: number, exchange: HttpExchange) {
    this.#maxWaiting = maxWaiting;
    this.#exchange = exchange;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pulled(),
        cancel: () => {
          this.#state = 'over';
        },
      },
      { highWaterMark: 0 },
    );
  }

  send(text: string): void {
    if (this.#state === 'over' || this.#last !== undefined) return;
    if (this.#state === 'ready') this.#write(text);
    else if (this.#waiting.push(text) > this.#maxWaiting) this.#waiting.shift();
  }

  end(text: string): void {
    if (this.#state === 'over' || this.#last !== undefined) return;
    this.#last = text;
    if (this.#state === 'ready') this.#pulled();
  }

  keepAlive(): void {
    if (this.#state === 'ready') this.#write(': keep-alive\n\n');
    else if (this.#state === 'busy') this.#state = 'stalled';
    else if (this.#state === 'stalled') this.#exchange.drop();
  }

  /** Called when the client has accepted everything so far. */
  #pulled(): void {
    if (this.#state === 'over') return;
    const text = this.#waiting.join('') + (this.#last ?? '');
    this.#waiting = [];
    this.#state = 'ready';
    if (text !== '') this.#write(text);
    if (this.#last === undefined) return;
    this.#state = 'over';
    this.#controller.close();
  }

  #write(text: string): void {
    this.#state = 'busy';
    this.#controller.enqueue(this.#encoder.encode(text));
  }
}

/** @throws TypeError for data that is not JSON. */
function encoded({ event = 'message', data }: ServerEvent): string {
  return `event: ${event.replaceAll(/[\r\n]/g, ' ')}\ndata: ${JSON.stringify(data)}\n\n`;
}
