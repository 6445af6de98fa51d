import { guardServer } from '#functions/lib/guard-server.ts';
import { type OpenServer, openServer } from '#infra/local/processes/open-server.ts';
import { listedOrigins, refuseForeign } from '#infra/local/processes/refuse-foreign.ts';
import { getTestServer } from '@google-cloud/functions-framework/testing';

export interface ServedFunction {
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
