import type { OperatorTime, StoreSpec, StoreTensors } from './protocol.ts';
import type { WireError } from './wire-errors.ts';

/** Consecutive numbers of a parameter, sent to a store. */
export interface StorePart {
  readonly name: string;
  readonly parameter: string;
  /** Index of the first number. */
  readonly first: number;
  readonly count: number;
  /** Begins with the numbers. Moved to the receiver unless it is shared. */
  readonly buffer: ArrayBufferLike;
}

/** Requests to the engine by name, with argument and answer. */
export interface EngineRequests {
  createStore: { argument: StoreSpec; answer: undefined };
  writeStore: {
    argument: { name: string; tensors: StoreTensors; slot: string | undefined };
    answer: undefined;
  };
  /** Writes some numbers of a parameter. The answer returns their memory. */
  writePart: { argument: StorePart; answer: ArrayBufferLike };
  readStore: { argument: { name: string; slot: string | undefined }; answer: StoreTensors };
  deleteStore: { argument: { name: string }; answer: undefined };
  start: { argument: { url: string; options: unknown }; answer: number };
  stop: { argument: { program: number }; answer: undefined };
  profile: { argument: undefined; answer: readonly OperatorTime[] };
  close: { argument: undefined; answer: undefined };
}

/** Messages from the caller to the engine. */
export type ToEngine =
  | {
      readonly kind: 'request';
      readonly id: number;
      readonly operation: keyof EngineRequests;
      readonly argument: unknown;
    }
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly program: number;
      readonly method: string;
      readonly argument: unknown;
    }
  | { readonly kind: 'abort'; readonly id: number; readonly reason: WireError };

/** Messages from the engine to the caller. */
export type FromEngine =
  /** The note is for the user. */
  | { readonly kind: 'ready'; readonly note: string | undefined }
  | { readonly kind: 'failed'; readonly error: WireError }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: WireError }
  | { readonly kind: 'event'; readonly id: number; readonly event: unknown }
  | { readonly kind: 'store'; readonly name: string; readonly state: 'created' | 'deleted' };

/** One end of a two-way connection that delivers structured clones in order. */
export interface Channel<Out, In> {
  /** Sends a message. Throws a `DataCloneError` if it cannot be cloned. */
  post(message: Out, transfer?: readonly ArrayBuffer[]): void;
  /** Sets the receiver. Earlier messages are delivered first. */
  listen(receive: (message: In) => void): void;
}

/** Two connected ends in one thread. Messages are cloned as between threads and arrive in a microtask. */
export function inlineChannels<A, B>(): [Channel<A, B>, Channel<B, A>] {
  const toSecond = inlineQueue<A>();
  const toFirst = inlineQueue<B>();
  return [
    { post: toSecond.post, listen: toFirst.listen },
    { post: toFirst.post, listen: toSecond.listen },
  ];
}

function inlineQueue<Message>() {
  const early: Message[] = [];
  let receiver: ((message: Message) => void) | undefined;
  const deliver = (message: Message) => {
    if (receiver) receiver(message);
    else early.push(message);
  };
  return {
    post(message: Message, transfer: readonly ArrayBuffer[] = []) {
      const clone = structuredClone(message, { transfer: [...transfer] });
      queueMicrotask(() => deliver(clone));
    },
    listen(receive: (message: Message) => void) {
      receiver = receive;
      for (const message of early.splice(0)) receive(message);
    },
  };
}
