import { ArgumentError, OptionsError } from '@rlp/core';

/** The error of a task without what its reward reads: it cannot be scored. */
export function referenceError(owner: string, task: string, kind: string, reference: unknown): ArgumentError {
  return new ArgumentError(
    `${owner}: the reference of task "${task}" must be ${kind}, got ${JSON.stringify(reference)}`,
  );
}

/**
 * The reference of a task if it is text that is not empty.
 *
 * @throws ArgumentError for anything else.
 */
export function requireReference(owner: string, task: string, reference: unknown): string {
  if (typeof reference === 'string' && reference.trim() !== '') return reference;
  throw referenceError(owner, task, 'text that is not empty', reference);
}

/** Options of a reward. @throws OptionsError if they lack the function that reads the metadata of a task. */
export function withReader<Options>(owner: string, options: Options, name: string = 'reference'): Options {
  if (typeof (options as Partial<Record<string, unknown>> | null)?.[name] === 'function') return options;
  const field = name === 'reference' ? 'answer' : name;
  throw new OptionsError(owner, [
    `${name}: must be a function of the metadata, such as ({ ${field} }) => ${field}`,
  ]);
}

/** Where a reward finds the right answer and the policy's. */
export interface AnswerSources<Metadata> extends ReferenceSource<Metadata> {
  /**
   * Policy's answer in its response, `undefined` if it gave none. Default: the content of `<answer>…</answer>` behind the last `</think>`. If a
   * response has several of these, they must agree.
   */
  readonly extract?: ((response: string) => string | undefined) | undefined;
}

/** Where a reward finds the right answer. */
export interface ReferenceSource<Metadata> {
  /** Right answer, from the task's metadata. Required. */
  readonly reference: (metadata: Metadata) => string;
}
