import { endOnSignal } from '#functions/lib/framework.ts';
import { disableNodeDomains } from '#functions/bootstrap/disable-node-domains.ts';
import { runApp } from '#infra/local/load-app.ts';
import { type EmbeddedSettings, startEmbeddedHost } from './host.ts';

/*
 * The embedded host as a process of the local stack: `node infra/local/embedded/main.ts JSON`, of its ports, pushes and
 * sweeps.
 */
const [settings = '{}'] = process.argv.slice(2);

disableNodeDomains();
const shutdown = new AbortController();
await runApp(async (app) => {
  const host = await startEmbeddedHost({
    environment: process.env,
    app,
    overrides: { shutdown: shutdown.signal },
    ...(JSON.parse(settings) as EmbeddedSettings),
  });
  endOnSignal(process, () => {
    shutdown.abort();
    return host.drain();
  });
});
