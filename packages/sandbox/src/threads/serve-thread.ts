import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { messageOf, requireArguments } from '@rlp/core';
import type { ThreadMessage } from './protocol.ts';

/** Service that a thread provides to its pool. */
export interface ThreadService<Request, Answer, Ready> {
  /** Sent to the pool once, before the first request. */
  readonly ready: Ready;
  /** Answers one request. Thrown errors reach the caller as a {@link ThreadError}. */
  readonly answer: (request: Request) => Answer | Promise<Answer>;
}

/** The caller's end of the channel, from a thread or a process. */
export type ThreadPort = Pick<MessagePort, 'postMessage'> & {
  on(event: 'message', listener: (message: unknown) => void): unknown;
};

/** What a program of a pool was started with. `undefined` in a program that no pool started. */
export function threadSide(): { readonly port: ThreadPort; readonly data: unknown } | undefined {
  if (parentPort !== null) return { port: parentPort, data: workerData };
  const { RLP_WORKER_DATA: data } = process.env;
  if (data === undefined || process.send === undefined) return undefined;
  // The pool's process has ended: nobody reads the answers.
  process.on('disconnect', () => process.exit(0));
  const port: ThreadPort = {
    postMessage: (message) => void process.send!(message),
    on: (_, listener) => process.on('message', listener),
  };
  return { port, data: JSON.parse(data) };
}

/**
 * The thread's side of a pool. Opens the service, reports that it is ready, and answers requests until it is
 * killed.
 */
export async function serveThread<Request, Answer, Ready>(
  port: ThreadPort,
  open: () => Promise<ThreadService<Request, Answer, Ready>>,
): Promise<void> {
  requireArguments('serveThread', { open: 'function' }, open);
  const post = (message: ThreadMessage<Ready, Answer>) => port.postMessage(message);
  try {
    const { ready, answer } = await open();
    port.on('message', (request) => {
      void (async () => post({ kind: 'answer', answer: await answer(request as Request) }))().catch(
        (error: unknown) => post({ kind: 'threw', reason: messageOf(error) }),
      );
    });
    post({ kind: 'ready', ready });
  } catch (error) {
    post({ kind: 'unusable', reason: messageOf(error) });
  }
}
