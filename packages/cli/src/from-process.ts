import { runCli } from './run-cli.ts';

/**
 * Runs the command `rlp` with the arguments, streams and signals of this process.
 *
 * Colours are shown on terminals, unless `NO_COLOR` is set. Ctrl-C stops the command. A second one ends the process.
 *
 * @returns The exit code.
 */
export async function runFromProcess(): Promise<number> {
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort(new Error('interrupted')));
  // A reader that has seen enough, such as `head`, is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  process.stdin.setEncoding('utf8');
  return runCli(process.argv.slice(2), {
    print: (line) => process.stdout.write(`${line}\n`),
    printError: (line) => process.stderr.write(`${line}\n`),
    write: (text) => process.stdout.write(text),
    input: process.stdin,
    colors: process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === '',
    signal: interrupted.signal,
  });
}
