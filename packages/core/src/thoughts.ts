import { requireArguments } from './options/require-arguments.ts';
/** A part of a response. A thought that is not closed is `'open'`. */
export interface Passage {
  readonly kind: 'said' | 'thought' | 'open';
  readonly text: string;
}

/**
 * The parts of a response in order, thoughts (`<think>…</think>`) apart. Together they are the response. The prompt may have opened the
 * first thought, so what stands before `</think>` is one.
 */
export function passagesOf(response: string): readonly Passage[] {
  requireArguments('passagesOf', { response: 'text' }, response);
  const passages: Passage[] = [];
  let from = 0;
  let isThought = false;
  const pass = (kind: Passage['kind'], to: number) => {
    if (to > from) passages.push({ kind, text: response.slice(from, to) });
    from = to;
  };
  for (const { 0: mark, index } of response.matchAll(/<\/?think>/g)) {
    if (mark === '</think>') pass('thought', index + mark.length);
    else if (!isThought) pass('said', index);
    isThought = mark === '<think>';
  }
  pass(isThought ? 'open' : 'said', response.length);
  return passages;
}
