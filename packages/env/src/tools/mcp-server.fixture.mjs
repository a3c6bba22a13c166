// An MCP server with three tools: `node mcp-server.fixture.mjs stdio|http`.
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as z from 'zod';

function newServer() {
  const server = new McpServer({ name: 'fixture', version: '1' });
  server.registerTool(
    'add',
    { description: 'Adds.', inputSchema: { a: z.number(), b: z.number() } },
    ({ a, b }) => ({
      content: [{ type: 'text', text: String(a + b) }],
    }),
  );
  server.registerTool('picture', { description: 'Shows a picture.' }, () => ({
    content: [
      { type: 'text', text: 'Look:' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///hill.txt', text: 'A hill.' } },
      { type: 'resource_link', uri: 'file:///hill.png', name: 'hill' },
    ],
  }));
  server.registerTool('fail', { description: 'Fails.' }, () => {
    throw new Error('out of order');
  });
  return server;
}

if (process.argv[2] === 'stdio') await newServer().connect(new StdioServerTransport());
else {
  const http = createServer(async (request, response) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on('close', () => transport.close());
    await newServer().connect(transport);
    await transport.handleRequest(request, response);
  });
  http.listen(0, '127.0.0.1', () => console.log(http.address().port));
}
