import { disableNodeDomains } from '#functions/bootstrap/disable-node-domains.ts';
import { guardServer, endOnSignal } from '#functions/lib/framework.ts';
import { registerFunctions } from '#functions/bootstrap/register.ts';
import { createDependencies, type Overrides } from '#functions/dependencies.ts';
import { withAppModel } from '#functions/app-steps.ts';
import { runApp } from '#infra/local/load-app.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { type OpenServer, openServer } from '#infra/local/processes/open-server.ts';
import { listedOrigins, refuseForeign } from '#infra/local/processes/refuse-foreign.ts';
import { getTestServer } from '@google-cloud/functions-framework/testing';

interface ServedFunction {
  target: 'chat' | 'compaction';
  port: number;
}

/**
 * Serves functions that are registered with the framework, each on its own port of the loopback
 * interface: the pipeline of production, but reachable from this machine only and by no foreign page, since the
 * local stack accepts unsigned tokens. Pages of CORS_ORIGINS of `environment` may call chat.
 */
export async function serveFunctions(
  functions: readonly ServedFunction[],
  environment: Readonly<Record<string, string | undefined>> = {},
): Promise<OpenServer[]> {
  return Promise.all(
    functions.map(async ({ target, port }) => {
      const server = getTestServer(target);
      guardServer(server);
      refuseForeign(server, target === 'chat' ? listedOrigins(environment) : []);
      server.setTimeout(0);
      return openServer(server, port);
    }),
  );
}

/** Reads `chat=8080` arguments. Throws an Error that names the one that is wrong. */
function parseServed(text: string): ServedFunction {
  const [target, port] = text.split('=');
  if ((target !== 'chat' && target !== 'compaction') || !/^\d+$/.test(port ?? ''))
    throw new Error(`expected chat=PORT or compaction=PORT, not ${JSON.stringify(text)}`);
  return { target, port: Number(port) };
}

/** Serves the functions that the arguments of this process name, `chat=8080`, until it is told to end. */
export async function runFunctions(overrides: Overrides = {}): Promise<void> {
  disableNodeDomains();
  const shutdown = new AbortController();
  await runApp(async (app) => {
    const dependencies = createDependencies(
      localConfig(withAppModel(process.env, app)),
      { ...overrides, shutdown: shutdown.signal },
      app,
    );
    const functions = registerFunctions(dependencies);
    await serveFunctions(process.argv.slice(2).map(parseServed), process.env);
    endOnSignal(process, () => {
      shutdown.abort();
      return functions.drain();
    });
  });
}
