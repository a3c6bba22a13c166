/** Messages of a thread: first that it is ready or unusable, then one answer to each request. */
export type ThreadMessage<Ready, Answer> =
  | { readonly kind: 'ready'; readonly ready: Ready }
  | { readonly kind: 'unusable'; readonly reason: string }
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'threw'; readonly reason: string };
