import { runCli } from './run-cli.ts';

/**
 * Runs the command `rlp` with the arguments, streams and signals of this process.
 *
 * Colours are shown on terminals, unless `NO_COLOR` is set. Ctrl-C, SIGTERM and the end of the terminal stop the command. A second Ctrl-C or SIGTERM ends the process.
 *
 * @returns The exit code.
 */
export async function runFromProcess(): Promise<number> {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process[name === 'SIGHUP' ? 'on' : 'once'](name, () => {
      // A terminal that is gone cannot be written to, and may say so several times.
      if (name === 'SIGHUP') process.stdout.removeAllListeners('error').on('error', () => {});
      interrupted.abort(new Error('interrupted'));
    });
  }
  // A reader that has seen enough, such as `head`, is not an error.
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') process.stderr.write(`rlp: the output could not be written: ${message}\n`);
    process.exit(code === 'EPIPE' ? 0 : 1);
  });
  // A run goes on without its progress, if nobody reads it or its disk is full.
  process.stderr.on('error', () => {});
  process.stdin.setEncoding('utf8');
  return runCli(process.argv.slice(2), {
    print: (line) => process.stdout.write(`${line}\n`),
    printError: (line) => process.stderr.write(`${line}\n`),
    write: (text) => process.stdout.write(text),
    input: process.stdin,
    progress: process.stderr,
    colors: process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === '',
    signal: interrupted.signal,
  });
}
