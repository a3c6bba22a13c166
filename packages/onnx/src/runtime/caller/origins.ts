import type { StoreTensor, StoreTensors } from '../protocol.ts';

const valuesPerTensor = 64;

/** Shape of a tensor and some of its values, evenly spaced. */
function sampleOf({ shape, data }: StoreTensor): string {
  const step = Math.max(1, Math.floor(data.length / valuesPerTensor));
  const values: number[] = [];
  for (let i = 0; i < data.length; i += step) values.push(data[i]!);
  return `${shape.join('×')}:${values.join(' ')}`;
}

/** Remembers the initial contents of stores, as a sample of each tensor. Detects stores of another model. */
export class Origins {
  readonly #samples = new Map<string, ReadonlyMap<string, string>>();

  remember(store: string, contents: StoreTensors): void {
    this.#samples.set(store, new Map([...contents].map(([name, tensor]) => [name, sampleOf(tensor)])));
  }

  forget(store: string): void {
    this.#samples.delete(store);
  }

  /** Whether the store was created with these tensors. True if its contents are unknown. */
  agrees(store: string, tensors: StoreTensors): boolean {
    const samples = this.#samples.get(store);
    if (samples === undefined) return true;
    return [...tensors].every(([name, tensor]) => samples.get(name) === sampleOf(tensor));
  }
}
