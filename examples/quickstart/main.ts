import { join } from 'node:path';
import { quickstartOptions, usage } from './options.ts';
import { explained, percent, quickstart } from './quickstart.ts';

const say = (line: string) => console.log(line);

/** The first Ctrl-C, or the end of the terminal, stops after the current step. The second stops at once. */
function interruptible(): AbortSignal {
  const controller = new AbortController();
  const stop = (signal: NodeJS.Signals) => {
    if (signal !== 'SIGHUP' && controller.signal.aborted) process.exit(130);
    controller.abort(new Error('interrupted'));
  };
  // A run goes on without its progress, if the terminal is gone or the reader has seen enough.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  return controller.signal;
}

async function main(): Promise<void> {
  const options = quickstartOptions(process.argv.slice(2));
  if (options === 'help') return say(usage);
  const signal = interruptible();
  try {
    const summary = await quickstart(options, { signal, stream: process.stdout });
    const { heldOutAccuracyAfterSft, heldOutAccuracyAfterRl } = summary;
    say(
      `Held-out accuracy: ${percent(heldOutAccuracyAfterSft)} after SFT, ${percent(heldOutAccuracyAfterRl)} after GRPO, in ` +
        `${summary.seconds.toFixed(0)} s.\nCurves and samples: ${join(options.out, 'report.html')}`,
    );
  } catch (error) {
    if (!signal.aborted) throw error;
    const flags = process.argv.slice(2).filter((flag) => flag !== '--resume' && flag !== '--new');
    const quoted = flags.map((flag) => (/^[\w./=:-]+$/.test(flag) ? flag : JSON.stringify(flag)));
    say(`\nStopped. Continue with: ${['npx -y pnpm@10 quickstart', ...quoted, '--resume'].join(' ')}`);
    process.exitCode = 130;
  }
}

main().catch((error: unknown) => {
  console.error(explained(error));
  process.exitCode = 1;
});
