import { callback, having, type LoggedSample, type MetricsLogger, parseOptions } from '@rlp/core';
import cliProgress from 'cli-progress';
import * as z from 'zod';
import { defaultColumns, formatColumns, formatDuration, type ProgressColumn } from './progress-line.ts';

const schema = z.strictObject({
  label: z.string().default('training'),
  iterations: z.int().min(1),
  startedAt: z.int().min(0).default(0),
  columns: z
    .array(
      z.strictObject({
        label: z.string(),
        metric: z.string(),
        show: z.enum(['value', 'per-second']).optional(),
      }),
    )
    .readonly()
    .default(defaultColumns),
  plainLineEvery: z.number().gt(0).max(100).default(10),
  stream: having<ConsoleStream>('write', 'a writable stream').default(() => process.stderr),
  clock: callback<() => number>().default(() => () => performance.now()),
});

/** Stream that progress is written to, such as `process.stderr`. */
export type ConsoleStream = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** Options of {@link consoleLogger}. */
export interface ConsoleLoggerOptions {
  /** Begins the line. Default `'training'`. */
  readonly label?: string | undefined;
  /** Iterations of the whole run. */
  readonly iterations: number;
  /** Iterations made before this process, in a resumed run. Their rows are not shown again. Default 0. */
  readonly startedAt?: number | undefined;
  /** Default columns are reward, KL, loss of supervised and preference training, accuracy of rewards and tokens per second, if they are logged. */
  readonly columns?: readonly ProgressColumn[] | undefined;
  /** Per cent of progress between two sample lines and, without a terminal, between two lines of metrics. Default 10. */
  readonly plainLineEvery?: number | undefined;
  /** Default `process.stderr`, so that a program's own output stays clean. */
  readonly stream?: ConsoleStream | undefined;
  /** Milliseconds since any fixed point. Default `performance.now`. */
  readonly clock?: (() => number) | undefined;
}

/**
 * Shows the progress of a run on the console.
 *
 * On a terminal it redraws a bar in place. Elsewhere (a file, CI, `TERM=dumb`) it prints a line for the first iteration, one per
 * `plainLineEvery` per cent, and one for the last. Notes and findings above severity `low` get separate lines, and so does one sample per
 * `plainLineEvery` per cent. Uses no colours. Steps count from 0, so the row of step `s` means that `s + 1` iterations are done.
 *
 * @throws OptionsError naming every problem at once.
 */
export function consoleLogger(options: ConsoleLoggerOptions): MetricsLogger {
  const { label, iterations, startedAt, columns, plainLineEvery, stream, clock } = parseOptions(
    'consoleLogger',
    schema,
    options,
  );
  const display = isInteractive(stream)
    ? barDisplay(stream, label, iterations)
    : plainDisplay(stream, label, iterations, plainLineEvery);
  const isSampled = every(plainLineEvery, iterations);
  const begun = clock();
  let last = begun;
  return {
    shows: 'console',
    log(step, metrics) {
      const now = clock();
      if (step < startedAt) {
        last = now; // What was done for an earlier iteration is no part of the next one's time.
        return;
      }
      const made = Math.min(step + 1, iterations);
      const perIteration = (now - begun) / 1000 / Math.max(1, made - startedAt);
      const remaining = formatDuration(perIteration * (iterations - made));
      display.show(made, formatColumns(columns, metrics, (now - last) / 1000), remaining);
      last = now;
    },
    note: (step, text) => display.say(`${label} ${step + 1}/${iterations} · note: ${text}`),
    samples(step, rows) {
      const [row] = rows;
      if (row === undefined || !isSampled(step)) return;
      display.say(`${label} ${step + 1}/${iterations} · sample: ${sampleText(row)}`);
    },
    finding(step, { severity, rule, message }) {
      if (severity === 'low') return;
      display.say(`${label} ${step + 1}/${iterations} · ${severity} finding ${rule}: ${message}`);
    },
    async close() {
      display.end();
    },
  };
}

/** Whether a step is the first one of another `percent` per cent of the run, or its last. */
function every(percent: number, iterations: number): (step: number) => boolean {
  let nextAt = 0;
  return (step) => {
    const done = (100 * (step + 1)) / iterations;
    if (done < nextAt && step + 1 < iterations) return false;
    nextAt = (Math.floor(done / percent) + 1) * percent;
    return true;
  };
}

/** One line with the end of the prompt and the beginning of the response. */
function sampleText({ prompt, response, reward }: LoggedSample): string {
  const asked = prompt.length > 60 ? `…${prompt.slice(-60)}` : prompt;
  const answered = response.length > 120 ? `${response.slice(0, 120)}…` : response;
  return `${JSON.stringify(asked)} → ${JSON.stringify(answered)}, reward ${reward ?? 'none'}`;
}

/** Shows how far a run is. */
interface Display {
  /** Prints a separate line. */
  say(line: string): void;
  show(made: number, columns: string, remaining: string): void;
  end(): void;
}

/** Whether lines can be redrawn, as on a terminal with a person before it. */
function isInteractive(stream: ConsoleStream): boolean {
  return stream.isTTY === true && !process.env.CI && process.env.TERM !== 'dumb';
}

function barDisplay(stream: ConsoleStream, label: string, iterations: number): Display {
  const bar = new cliProgress.SingleBar({
    format: '{label} [{bar}] {value}/{total}  {columns}  ETA {remaining}',
    barCompleteChar: '=',
    barIncompleteChar: ' ',
    barsize: 24,
    stream,
    hideCursor: false,
    linewrap: false,
    gracefulExit: false,
  });
  let isStarted = false;
  return {
    show(made, columns, remaining) {
      const payload = { label, columns, remaining };
      if (isStarted) bar.update(made, payload);
      else bar.start(iterations, made, payload);
      isStarted = true;
    },
    say(line) {
      // Over the bar, which is drawn again below it.
      stream.write(isStarted ? `\r\x1b[2K${line}\n` : `${line}\n`);
      if (isStarted) bar.render();
    },
    end() {
      if (isStarted) bar.stop();
      isStarted = false;
    },
  };
}

function plainDisplay(stream: ConsoleStream, label: string, iterations: number, percent: number): Display {
  const isShown = every(percent, iterations);
  return {
    show(made, columns, remaining) {
      if (!isShown(made - 1)) return;
      const parts = [`${label} ${made}/${iterations}`, columns, `ETA ${remaining}`].filter(Boolean);
      stream.write(`${parts.join(' · ')}\n`);
    },
    say(line) {
      stream.write(`${line}\n`);
    },
    end() {},
  };
}
