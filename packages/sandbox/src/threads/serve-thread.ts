import type { MessagePort } from 'node:worker_threads';
import { messageOf } from '@rlp/core';
import type { ThreadMessage } from './protocol.ts';

/** What a thread does for its pool. */
export interface ThreadService<Request, Answer, Ready> {
  /** Sent to the pool once, before the first request. */
  readonly ready: Ready;
  /** Answers one request. What it throws is reported to the caller as a {@link ThreadError}. */
  readonly answer: (request: Request) => Answer | Promise<Answer>;
}

/** The thread's side: opens the service, reports that it is ready, and answers requests until the thread is killed. */
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
