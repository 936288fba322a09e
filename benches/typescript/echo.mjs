// One tool, as the guide of the SDK shows it.
import { McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod/v4';

export function echo() {
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
}
