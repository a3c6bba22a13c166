import { type ServeContext, signalOf } from './routes.ts';

/** An event for the client. */
export interface StreamEvent {
  /** Default: an event without a name. */
  readonly event?: string | undefined;
  /** Text is sent as it is, everything else as JSON. */
  readonly data: unknown;
}

/**
 * Answers with Server-Sent Events.
 *
 * The answer begins with the first event, so an error before it has its own status. Events are made when the client
 * reads. A client that stops reading is dropped after `stallMs`.
 *
 * @param failed - Event for an error after the first event.
 */
export async function eventStream(
  context: ServeContext,
  events: AsyncGenerator<StreamEvent, void, undefined>,
  failed: (error: unknown) => StreamEvent,
): Promise<Response> {
  const first = await events.next();
  const encoder = new TextEncoder();
  const bytes = (event: StreamEvent) => encoder.encode(written(event));
  const watch = new StallWatch(context);
  let pending: IteratorResult<StreamEvent, void> | undefined = first;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        watch.read();
        try {
          const next = pending ?? (await events.next());
          pending = undefined;
          if (next.done === true) return watch.end(() => controller.close());
          watch.sent();
          controller.enqueue(bytes(next.value));
        } catch (error) {
          context.get('report')(error);
          watch.end(() => {
            controller.enqueue(bytes(failed(error)));
            controller.close();
          });
        }
      },
      async cancel() {
        watch.end(() => undefined);
        await events.return();
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };
  return new Response(body, { headers });
}

function written({ event, data }: StreamEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

/** Drops a client that leaves an event unread for too long. */
class StallWatch {
  readonly #context: ServeContext;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: ServeContext) {
    this.#context = context;
    signalOf(context).addEventListener('abort', () => clearTimeout(this.#timer), { once: true });
  }

  sent(): void {
    const { stallMs } = this.#context.get('settings');
    this.#timer = setTimeout(() => this.#context.env?.exchange?.drop(), stallMs);
  }

  read(): void {
    clearTimeout(this.#timer);
  }

  end(last: () => void): void {
    clearTimeout(this.#timer);
    last();
  }
}
