import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A server on loopback until the test ends; what it was asked, in order. */
export async function loopback(
  answer: (body: never, response: ServerResponse, request: IncomingMessage) => void,
): Promise<{ readonly url: string; readonly bodies: unknown[]; readonly requests: IncomingMessage[] }> {
  const bodies: unknown[] = [];
  const requests: IncomingMessage[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const body: unknown = JSON.parse(text);
    bodies.push(body);
    requests.push(request);
    answer(body as never, response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies, requests };
}

/** An address on loopback where nobody listens. */
export async function nowhere(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/rm`;
}
