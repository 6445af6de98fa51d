import { parseArgs } from 'node:util';
import { endOnSignal } from '#functions/lib/framework.ts';
import { disableNodeDomains } from '#functions/bootstrap/disable-node-domains.ts';
import { runApp } from '#infra/local/load-app.ts';
import { startEmbeddedHost } from './host.ts';

/*
 * The embedded host as a process of the local stack:
 * `node infra/local/embedded/main.ts --chat-port N --compaction-port N [--push JSON] [--sweep-seconds N]`.
 */
const { values } = parseArgs({
  options: {
    'chat-port': { type: 'string', default: '0' },
    'compaction-port': { type: 'string', default: '0' },
    push: { type: 'string', default: '{}' },
    'sweep-seconds': { type: 'string', default: '0' },
  },
});

disableNodeDomains();
const shutdown = new AbortController();
await runApp(async (app) => {
  const host = await startEmbeddedHost({
    environment: process.env,
    app,
    overrides: { shutdown: shutdown.signal },
    ports: { chat: Number(values['chat-port']), compaction: Number(values['compaction-port']) },
    push: JSON.parse(values.push),
    sweepSeconds: Number(values['sweep-seconds']),
  });
  endOnSignal(process, () => {
    shutdown.abort();
    return host.drain();
  });
});
