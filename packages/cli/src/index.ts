export type { CliContext } from './context.ts';
export { runFromProcess } from './from-process.ts';
export { runCli } from './run-cli.ts';
