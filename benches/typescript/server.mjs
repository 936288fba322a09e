// The smallest server on the official TypeScript SDK: one tool, as its guide shows it.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod/v4';

serveStdio(() => {
    const server = new McpServer({ name: 'typescript', version: '0.0.0' });
    server.registerTool(
        'echo',
        {
            description: 'Return the text, as many times as asked',
            inputSchema: z.object({ text: z.string(), times: z.number().int().min(0).default(1) })
        },
        async ({ text, times }) => ({ content: [{ type: 'text', text: text.repeat(times) }] })
    );
    return server;
});
