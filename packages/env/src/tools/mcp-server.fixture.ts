import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** An MCP server over HTTP in a process of its own. */
export interface McpServerProcess {
  readonly url: URL;
  stop(): void;
}

const script = fileURLToPath(new URL('./mcp-server.fixture.mjs', import.meta.url));

/** How a client starts the server over its standard streams. */
export const stdioServer = { command: process.execPath, args: [script, 'stdio'] };

/** Starts the server over HTTP. */
export async function startMcpServer(): Promise<McpServerProcess> {
  const child: ChildProcess = spawn(process.execPath, [script, 'http'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(child.stdout!, 'data')) as [Buffer];
  return { url: new URL(`http://127.0.0.1:${String(port).trim()}/mcp`), stop: () => child.kill() };
}
