/**
 * Indices of the `count` largest values. Among equal values the earlier ones win. The largest comes first.
 *
 * @param count - At most as many as there are values are given.
 */
export function topK(values: ArrayLike<number>, count: number): number[] {
  const order = Array.from({ length: values.length }, (_, index) => index);
  return order.sort((a, b) => values[b]! - values[a]!).slice(0, count);
}

/**
 * Indices of the `count` largest values, in no particular order. Among equal values they are those that `torch.topk` gives on a CPU.
 *
 * Which of equal values torch returns depends on its selection algorithm: libstdc++'s `nth_element`, a quickselect that swaps
 * equal elements. This function follows it step by step, except for its fallback to a heap in adversarial orders. If
 * `64 · count` is at most the number of values, torch selects with a heap, which returns the earlier of equal values.
 */
export function torchTopK(values: ArrayLike<number>, count: number): number[] {
  if (64 * count <= values.length) return topK(values, count);
  const order = Array.from({ length: values.length }, (_, index) => index);
  const isBefore = (a: number, b: number) => values[a]! > values[b]!;
  let [first, last] = [0, order.length];
  while (last - first > 3) {
    const cut = partition(order, first, last, isBefore);
    if (cut <= count - 1) first = cut;
    else last = cut;
  }
  const rest = order.slice(first, last).sort((a, b) => values[b]! - values[a]!);
  order.splice(first, rest.length, ...rest);
  return order.slice(0, count);
}

type Before = (a: number, b: number) => boolean;

/** Hoare's partition of `[first, last)` around a median of three, which it first moves to the front. */
function partition(order: number[], first: number, last: number, isBefore: Before): number {
  const middle = first + Math.floor((last - first) / 2);
  swap(order, first, medianOf(order, [first + 1, middle, last - 1], isBefore));
  const pivot = order[first]!;
  let [low, high] = [first + 1, last];
  for (;;) {
    while (isBefore(order[low]!, pivot)) low++;
    high--;
    while (isBefore(pivot, order[high]!)) high--;
    if (low >= high) return low;
    swap(order, low, high);
    low++;
  }
}

/** The place whose element lies between the other two. With equal elements it is the one that libstdc++ takes. */
function medianOf(order: readonly number[], [a, b, c]: [number, number, number], isBefore: Before): number {
  const goesBefore = (x: number, y: number) => isBefore(order[x]!, order[y]!);
  if (goesBefore(a, b)) return goesBefore(b, c) ? b : goesBefore(a, c) ? c : a;
  return goesBefore(a, c) ? a : goesBefore(b, c) ? c : b;
}

function swap(order: number[], a: number, b: number): void {
  [order[a], order[b]] = [order[b]!, order[a]!];
}
