import { getTestServer } from '@google-cloud/functions-framework/testing';
import { guardServer } from '#functions/bootstrap/server-guard.ts';
import { type OpenServer, openServer } from '../processes/open-server.ts';
import { listedOrigins, refuseForeign } from '../processes/refuse-foreign.ts';

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
export function parseServed(text: string): ServedFunction {
  const [target, port] = text.split('=');
  if ((target !== 'chat' && target !== 'compaction') || !/^\d+$/.test(port ?? ''))
    throw new Error(`expected chat=PORT or compaction=PORT, not ${JSON.stringify(text)}`);
  return { target, port: Number(port) };
}
