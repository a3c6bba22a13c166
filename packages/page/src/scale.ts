/** About `count` round numbers in `[low, high]`, in steps of 1, 2 or 5 times a power of ten. */
export function ticks(low: number, high: number, count: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  // The factor that is nearest on a logarithmic scale.
  const factor = [1, 2, 5, 10].find(
    (one, at, all) => rough / power <= Math.sqrt(one * (all[at + 1] ?? one)),
  )!;
  const step = factor * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

/** Formats a number in few characters. */
export function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (value === 0) return '0';
  if (!Number.isFinite(value)) return String(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(1).replace('e+', 'e').replace('.0e', 'e');
  if (size >= 1e4) return `${Number((value / 1000).toFixed(1))}k`;
  return String(Number(value.toPrecision(4)));
}
