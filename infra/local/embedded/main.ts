import { runApp } from '#infra/local/load-app.ts';
import { type EmbeddedSettings, startEmbeddedHost } from './host.ts';

/*
 * The embedded host as a process of the local stack: `node infra/local/embedded/main.ts JSON`, of its ports, pushes and
 * sweeps.
 */
const [settings = '{}'] = process.argv.slice(2);

await runApp((app, shutdown) =>
  startEmbeddedHost({
    environment: process.env,
    app,
    overrides: { shutdown },
    ...(JSON.parse(settings) as EmbeddedSettings),
  }),
);
