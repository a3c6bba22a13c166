import type { MessagePort } from 'node:worker_threads';
import { messageOf } from '@rlp/core';
import type { ThreadMessage } from './protocol.ts';

/** Service that a thread provides to its pool. */
export interface ThreadService<Request, Answer, Ready> {
  /** Sent to the pool once, before the first request. */
  readonly ready: Ready;
  /** Answers one request. Thrown errors reach the caller as a {@link ThreadError}. */
  readonly answer: (request: Request) => Answer | Promise<Answer>;
}

/**
 * The thread's side of a pool. Opens the service, reports that it is ready, and answers requests until it is
 * killed.
 */
export async function serveThread<Request, Answer, Ready>(
  port: MessagePort,
  open: () => Promise<ThreadService<Request, Answer, Ready>>,
): Promise<void> {
  const post = (message: ThreadMessage<Ready, Answer>) => port.postMessage(message);
  try {
    const { ready, answer } = await open();
    port.on('message', (request: Request) => {
      void (async () => post({ kind: 'answer', answer: await answer(request) }))().catch((error: unknown) =>
        post({ kind: 'threw', reason: messageOf(error) }),
      );
    });
    post({ kind: 'ready', ready });
  } catch (error) {
    post({ kind: 'unusable', reason: messageOf(error) });
  }
}
