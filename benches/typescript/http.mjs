// The same server over HTTP, as the guide of the SDK shows it; it prints its address.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { echo } from './echo.mjs';

const server = createServer(toNodeHandler(createMcpHandler(echo)));
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
