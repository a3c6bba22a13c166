import { type MetricsLogger, terminalText } from '@rlp/core';

/** Options of {@link consoleAlerts}. */
export interface ConsoleAlertsOptions {
  /** Writes a block of text. Default `console.error`. */
  readonly write?: ((text: string) => void) | undefined;
  /** Colours by severity. Use `'plain'` if the output goes to a file. Default `'plain'`. */
  readonly colours?: 'ansi' | 'plain' | undefined;
}

const ansi = { low: 36, medium: 33, high: 31, critical: 35 } as const;

/** Prints each finding as a block: severity, rule and step, the message, the numbers, and what helps. */
export function consoleAlerts({
  write = console.error,
  colours = 'plain',
}: ConsoleAlertsOptions = {}): MetricsLogger {
  return {
    shows: write === console.error ? 'findings' : undefined,
    log: () => undefined,
    note: (step, text) => write(`→ step ${step}: ${terminalText(text)}`),
    finding(step, { severity, rule, message, evidence, note }) {
      const plain = `[${severity.toUpperCase()}] ${rule}`;
      const title = colours === 'ansi' ? `\u001b[${ansi[severity]}m${plain}\u001b[0m` : plain;
      const numbers = Object.entries(evidence).map(
        ([name, value]) => `${name}=${Number.isInteger(value) ? value : Number(value.toPrecision(4))}`,
      );
      const advice = note === undefined ? '' : `\n  What helps: ${note.mitigation.join('; ')}`;
      write(`${title} at step ${step}\n  ${terminalText(message)}\n  ${numbers.join(', ')}${advice}`);
    },
    close: async () => undefined,
  };
}
