import { parseArgs } from 'node:util';
import { startEmbeddedHost } from './host.ts';

/*
 * The embedded host as a process of the local stack:
 * `node infra/local/embedded/main.ts --chat-port N --compaction-port N [--push JSON]`.
 */
const { values } = parseArgs({
  options: {
    'chat-port': { type: 'string', default: '0' },
    'compaction-port': { type: 'string', default: '0' },
    push: { type: 'string', default: '{}' },
  },
});

await startEmbeddedHost({
  environment: process.env,
  ports: { chat: Number(values['chat-port']), compaction: Number(values['compaction-port']) },
  push: JSON.parse(values.push),
});
