import { elementCount } from '../../graph/shape.ts';
import type { StoreTensor, StoreTensors } from '../protocol.ts';

/** Values of a stretch, and stretches of a sample. Few, because each is a separate reading if the tensor is in a file. */
const [valuesAtOnce, stretches] = [16, 4];

/** Shape of a tensor and some of its values, from evenly spaced places. */
function sampleOf(tensor: StoreTensor): string {
  const { shape } = tensor;
  const length = elementCount(shape);
  const values = new Float32Array(Math.min(valuesAtOnce, length));
  const samples = Array.from({ length: length > values.length ? stretches : 1 }, (_, at) => {
    const first = Math.floor((at * (length - values.length)) / (stretches - 1));
    if (tensor.copyTo) tensor.copyTo(values, first);
    else values.set(tensor.data.subarray(first, first + values.length));
    return values.join(' ');
  });
  return `${shape.join('×')}:${samples.join(' ')}`;
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
