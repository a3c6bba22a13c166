import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs TypeScript from source in a separate process, with these environment variables added. */
export function runScript(source: string, environment: Readonly<Record<string, string>> = {}) {
  const loader = ['--conditions=@rlp/source', '--import', process.env.RLP_REGISTER ?? 'tsx'];
  return promisify(execFile)(process.execPath, [...loader, '--input-type=module', '-e', source], {
    timeout: 25_000,
    cwd: new URL('.', import.meta.url),
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
  });
}
