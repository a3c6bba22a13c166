import type { Metrics } from '@rlp/core';

/** A column of the progress line. */
export interface ProgressColumn {
  readonly label: string;
  /** Key of the metric, such as `reward/mean`. The column is left out of lines without it. */
  readonly metric: string;
  /** `value` (default) shows the metric, `per-second` divides it by the seconds since the last line. A rate of 0 is left out. */
  readonly show?: 'value' | 'per-second' | undefined;
}

/** Reward, KL to the reference, loss and accuracy of what imitates or compares, tokens computed per second. */
export const defaultColumns: readonly ProgressColumn[] = [
  { label: 'reward', metric: 'reward/mean' },
  { label: 'KL', metric: 'kl/reference' },
  { label: 'loss', metric: 'loss/sft' },
  { label: 'loss', metric: 'loss/preference' },
  { label: 'loss', metric: 'loss/reward-model' },
  { label: 'accuracy', metric: 'reward/accuracy' },
  { label: 'tokens/s', metric: 'tokens/computed', show: 'per-second' },
];

/** The columns of one line as text, such as `reward 0.612 · KL 0.004 · tokens/s 12 300`. */
export function formatColumns(columns: readonly ProgressColumn[], metrics: Metrics, seconds: number): string {
  return columns
    .flatMap(({ label, metric, show }) => {
      const value = Object.hasOwn(metrics, metric) ? metrics[metric] : undefined;
      if (value === undefined || (show === 'per-second' && (seconds <= 0 || value === 0))) return [];
      return [`${label} ${formatNumber(show === 'per-second' ? value / seconds : value)}`];
    })
    .join(' · ');
}

/** A number in a few characters. Three decimals below 100, one below 1000, whole above. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value) || value === 0) return String(value);
  if (size >= 1e9 || size < 1e-3) return value.toExponential(1);
  if (size >= 1000) return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ' ');
  return value.toFixed(size >= 100 ? 1 : 3);
}

/** Seconds as `42s`, `3m 05s` or `2h 10m`. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '?';
  const whole = Math.max(0, Math.round(seconds));
  const two = (value: number) => String(value).padStart(2, '0');
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h ${two(Math.floor((whole % 3600) / 60))}m`;
}
