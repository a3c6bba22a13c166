// Turns a bare clone into a working checkout and runs one of its commands. Plain Node without dependencies, because nothing
// is installed yet when it starts: `npx -y pnpm@10 quickstart` and `npx -y pnpm@10 verify` come through here.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The command line of each root script that installs first. Both run from source: there is nothing to build before. */
const commands = {
  quickstart: ['--conditions=@rlp/source', '--import', 'tsx', 'examples/quickstart/main.ts'],
  verify: ['--import', 'tsx', 'scripts/check.ts'],
};

/**
 * Runs to the end with our terminal; anything but success ends this process with the same code.
 *
 * Ctrl-C reaches the program through the terminal by itself. We only stay until it has ended, so that its last words come
 * before the shell's prompt.
 */
async function run(program, args, shell = false) {
  const child = spawn(program, args, { cwd: root, stdio: 'inherit', shell });
  const stay = () => undefined;
  const pass = () => child.kill('SIGTERM');
  const hangUp = () => child.kill('SIGHUP');
  process.on('SIGINT', stay).on('SIGHUP', hangUp).on('SIGTERM', pass);
  const [code, signal] = await once(child, 'exit').catch((error) => {
    console.error(`bootstrap: cannot run ${program}: ${error.message}`);
    return [1];
  });
  process.off('SIGINT', stay).off('SIGHUP', hangUp).off('SIGTERM', pass);
  if (code !== 0) process.exit(signal === 'SIGINT' ? 130 : (code ?? 1));
}

/** Installs with the pnpm that runs us, or else with the one that package.json pins. */
function install() {
  const args = ['install', '--frozen-lockfile', '--prefer-offline', '--loglevel=error'];
  const running = process.env.npm_execpath ?? '';
  if (/pnpm[^/\\]*$/.test(running)) {
    if (/\.[cm]?js$/.test(running)) return run(process.execPath, [running, ...args]);
    return run(running, args);
  }
  const { packageManager } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const windows = process.platform === 'win32';
  return run(windows ? 'npx.cmd' : 'npx', ['-y', packageManager, ...args], windows);
}

/** The releases that every tool of the repository supports; the published packages ask for 20.19 or later only. */
function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const leastMinor = { 20: 19, 22: 13 }[major] ?? (major >= 24 ? 0 : Infinity);
  if (minor >= leastMinor) return;
  console.error(
    `rlp needs Node 20.19+, 22.13+ or 24+, this is ${process.version}: get one from https://nodejs.org`,
  );
  process.exit(1);
}

const [name, ...args] = process.argv.slice(2);
const command = Object.hasOwn(commands, name ?? '') ? commands[name] : undefined;
if (command === undefined) {
  console.error(`bootstrap: expected one of ${Object.keys(commands).join(', ')}, got ${name ?? 'nothing'}`);
  process.exit(1);
}
requireNode();
await install();
await run(process.execPath, [...command, ...args]);
