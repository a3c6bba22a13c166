import type { AlertRecord, MonitorSink } from './sink.ts';

/** Where lines go: `console.error` unless told otherwise. */
export interface ConsoleSinkOptions {
  readonly write?: ((line: string) => void) | undefined;
  /** Colours by severity; leave them off where lines go to a file. Default `'plain'`. */
  readonly colours?: 'ansi' | 'plain' | undefined;
}

const ansi = { low: 36, medium: 33, high: 31, critical: 35 } as const;

/** Prints each alert as a block: severity and rule, the message, the numbers, and what was asked for. */
export function consoleSink({
  write = console.error,
  colours = 'plain',
}: ConsoleSinkOptions = {}): MonitorSink {
  const paint = (text: string, { severity }: AlertRecord) =>
    colours === 'ansi' ? `\u001b[${ansi[severity]}m${text}\u001b[0m` : text;
  return {
    name: 'console',
    write({ step, alerts, interventions }) {
      for (const alert of alerts) {
        const title = paint(`[${alert.severity.toUpperCase()}] ${alert.pathologyType}`, alert);
        const numbers = Object.entries(alert.metrics).map(
          ([name, value]) => `${name}=${Number(value.toPrecision(4))}`,
        );
        write(`${title} at step ${step}\n  ${alert.message}\n  ${numbers.join(', ')}`);
      }
      for (const { action, cause } of interventions)
        write(`→ ${action} asked for at step ${step}, because of ${cause}`);
    },
  };
}
