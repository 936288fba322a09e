// The smallest server on the official TypeScript SDK: one tool, over stdio.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { echo } from './echo.mjs';

serveStdio(echo);
