export { type CliContext, runCli } from './run-cli.ts';
