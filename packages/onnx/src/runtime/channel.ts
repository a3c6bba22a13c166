import type { OperatorTime, StoreSpec, StoreTensors } from './protocol.ts';
import type { WireError } from './wire-errors.ts';

/** Consecutive numbers of a parameter on their way into a store. */
export interface StorePart {
  readonly name: string;
  readonly parameter: string;
  /** Index of the first number. */
  readonly first: number;
  readonly count: number;
  /** Begins with the numbers, and is handed over. */
  readonly buffer: ArrayBuffer;
}

/** What the engine itself can be asked, by name: argument and answer. */
export interface EngineRequests {
  createStore: { argument: StoreSpec; answer: undefined };
  writeStore: {
    argument: { name: string; tensors: StoreTensors; slot: string | undefined };
    answer: undefined;
  };
  /** Writes some numbers of a parameter; the answer gives their memory back. */
  writePart: { argument: StorePart; answer: ArrayBuffer };
  readStore: { argument: { name: string; slot: string | undefined }; answer: StoreTensors };
  deleteStore: { argument: { name: string }; answer: undefined };
  start: { argument: { url: string; options: unknown }; answer: number };
  stop: { argument: { program: number }; answer: undefined };
  profile: { argument: undefined; answer: readonly OperatorTime[] };
  close: { argument: undefined; answer: undefined };
}

/** From the caller to the engine. */
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

/** From the engine to the caller. */
export type FromEngine =
  /** The note is for the user of the engine. */
  | { readonly kind: 'ready'; readonly note: string | undefined }
  | { readonly kind: 'failed'; readonly error: WireError }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: WireError }
  | { readonly kind: 'event'; readonly id: number; readonly event: unknown }
  | { readonly kind: 'store'; readonly name: string; readonly state: 'created' | 'deleted' };

/** One end of a two-way connection that delivers structured clones in order. */
export interface Channel<Out, In> {
  /** Throws a `DataCloneError` for what cannot be cloned. */
  post(message: Out, transfer?: readonly ArrayBuffer[]): void;
  /** Sets the one receiver. Messages that came earlier are delivered first. */
  listen(receive: (message: In) => void): void;
}

/** Two connected ends within one thread; messages are cloned as between threads and arrive in a microtask. */
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
