/** Damages calls one argument at a time, and says what each wrong call got. */
import { RandomStream, RlpError } from '@rlp/core';
import { Tape } from '@rlp/tensor';
import type { ExampleCall } from './examples.ts';

/** What a wrong call got. */
export type Answer = 'RlpError' | 'other error' | 'NaN' | 'accepted';

/** One wrong call. */
export interface WrongCall {
  readonly callee: string;
  /** Which argument or field, and what stood there. */
  readonly damage: string;
  readonly answer: Answer;
  /** Message of the error. Empty without one. */
  readonly message: string;
}

/** An exported function or class, with a call that fits its type if one is known. */
export interface Callee {
  readonly name: string;
  readonly value: (...args: unknown[]) => unknown;
  readonly example: ExampleCall;
}

/** Longest wait for a promise, in milliseconds. What still waits then was accepted. */
const patienceMs = 100;

/** Deepest path that is damaged: argument, field or element, field or element. */
const deepest = 3;

/** New ones for each call, because a callee may write into them. */
const wrongValues = (): Readonly<Record<string, unknown>> => ({
  undefined: undefined,
  null: null,
  text: 'wrong',
  number: -1.5,
  NaN: Number.NaN,
  'empty list': [],
  'empty object': {},
  'foreign object': new Map([['a', 1]]),
});

type Wrong = readonly [name: string, value: unknown];

/** What may stand in the place of a value by mistake. */
function wrongFor(value: unknown): readonly Wrong[] {
  const others = Object.entries(wrongValues()).filter(([name, wrong]) =>
    name === 'NaN' ? typeof value === 'number' : typeof wrong !== typeof value || typeof value === 'object',
  );
  if (isPlain(value)) return [...others, ['unknown key', { ...value, notAnOption: 1 }]];
  if (!Array.isArray(value) || value.length === 0) return others;
  return [...others, ['shorter list', value.slice(1)], ['list with a hole', [...value.slice(1), undefined]]];
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

type Path = readonly (string | number)[];

/** What is damaged as a whole: arrays of numbers, and tensors of a tape. */
function isOpaque(value: object): boolean {
  return ArrayBuffer.isView(value) || 'tracked' in value;
}

function pathsOf(value: unknown, path: Path): Path[] {
  if (path.length >= deepest || typeof value !== 'object' || value === null || isOpaque(value)) return [path];
  if (Array.isArray(value)) return [path, ...(value.length === 0 ? [] : pathsOf(value[0], [...path, 0]))];
  const keys = isPlain(value) ? Object.keys(value) : [];
  return [path, ...keys.flatMap((key) => pathsOf((value as Record<string, unknown>)[key], [...path, key]))];
}

function at(value: unknown, path: Path): unknown {
  return path.reduce((inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key], value);
}

function replaced(value: unknown, [key, ...rest]: Path, wrong: unknown): unknown {
  if (key === undefined) return wrong;
  const inner = replaced((value as Record<string | number, unknown>)[key], rest, wrong);
  if (Array.isArray(value)) return value.map((each, k) => (k === key ? inner : each));
  return { ...(value as object), [key]: inner };
}

/** Whether a result holds NaN near its surface. */
function hasNaN(value: unknown, depth = 0): boolean {
  if (typeof value === 'number') return Number.isNaN(value);
  if (depth > 3 || typeof value !== 'object' || value === null) return false;
  if (ArrayBuffer.isView(value))
    return 'length' in value && Array.from(value as Float32Array).some(Number.isNaN);
  return Object.values(value).some((inner) => hasNaN(inner, depth + 1));
}

/** Values that have no literal, for the text of examples. */
export function makers(classes: ReadonlyMap<string, unknown>) {
  return {
    Variable: () => new Tape().constant(0.5),
    TensorOps: () => new Tape(),
    RandomStream: () => RandomStream.named('wrong calls'),
    /** An object that looks like an instance of a class, which nobody constructed. */
    instance(name: string): unknown {
      const made = classes.get(name) as (new () => unknown) | undefined;
      return made === undefined ? {} : Object.create(made.prototype as object);
    },
  };
}

/** Makes values that have no literal. */
export type Makers = ReturnType<typeof makers>;

function argumentsOf({ text }: ExampleCall, made: Makers): unknown[] {
  return new Function('made', `return ${text}`)(made) as unknown[];
}

/** Calls, and waits a little for what comes. Of a stream, takes the first item. */
async function outcomeOf({ value }: Callee, args: readonly unknown[]): Promise<unknown> {
  const isClass = /^class\b/.test(Function.prototype.toString.call(value));
  const result = isClass ? Reflect.construct(value, args) : value(...args);
  const stream = (result as AsyncIterable<unknown> | undefined)?.[Symbol.asyncIterator];
  const pending = typeof stream === 'function' ? stream.call(result).next() : result;
  if (typeof (pending as Promise<unknown> | undefined)?.then !== 'function') return pending;
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise((resolve) => {
    timer = setTimeout(resolve, patienceMs);
  });
  return Promise.race([pending, patience]).finally(() => clearTimeout(timer));
}

async function answered(
  callee: Callee,
  args: readonly unknown[],
): Promise<Pick<WrongCall, 'answer' | 'message'>> {
  try {
    return { answer: hasNaN(await outcomeOf(callee, args)) ? 'NaN' : 'accepted', message: '' };
  } catch (error) {
    return {
      answer: error instanceof RlpError ? 'RlpError' : 'other error',
      message: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
    };
  }
}

/** Whether a wrong call got neither an RlpError nor a result that hides nothing. */
export function isCareless({ answer }: WrongCall): boolean {
  return answer === 'other error' || answer === 'NaN';
}

/**
 * Every wrong call of one function or class, and the call without damage. A call that fails as the one without damage does is left
 * out: it says nothing about the damage.
 */
export async function sweep(callee: Callee, made: Makers): Promise<{ whole: WrongCall; wrong: WrongCall[] }> {
  const { example, name } = callee;
  const fresh = () => argumentsOf(example, made);
  const whole = { callee: name, damage: 'none', ...(await answered(callee, fresh())) };
  const optional = new Set(example.optional);
  const present = fresh().flatMap((value, index) => pathsOf(value, [index]));
  const absent = example.optional.map((path) =>
    path.split('.').map((key) => (/^\d+$/.test(key) ? Number(key) : key)),
  );
  const wrong: WrongCall[] = [];
  for (const path of [...present, ...absent.filter(({ length }) => length > 1 && length <= 3)]) {
    for (const [kind, value] of wrongFor(at(fresh(), path))) {
      if (kind === 'undefined' && optional.has(path.join('.'))) continue;
      const damage = `${path.join('.')} = ${kind}`;
      const got = await answered(callee, replaced(fresh(), path, value) as unknown[]);
      const isSame = whole.answer !== 'accepted' && got.message === whole.message;
      if (!isSame) wrong.push({ callee: name, damage, ...got });
    }
  }
  return { whole, wrong };
}
