import { createHash } from 'node:crypto';
import { z } from 'zod';
import { healthResponse } from '#shared/wire/resources/usage.ts';
import { SmokeFailure, type Step } from './run-steps.ts';
import { createSmokeClient } from './smoke-client.ts';
import type { SmokeContext } from './smoke-context.ts';

const openapiSchema = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ version: z.string().optional() }),
  paths: z.record(z.string(), z.unknown()),
});

/** What the other steps call. */
const NEEDED_PATHS = [
  '/v1/conversations',
  '/v1/conversations/{conversationId}',
  '/v1/conversations/{conversationId}/messages',
  '/v1/conversations/{conversationId}/turns/{turnId}/stream',
  '/v1/conversations/{conversationId}/context',
  '/v1/conversations/{conversationId}:compact',
  '/v1/conversations/{conversationId}:restore',
  '/v1/conversations/{conversationId}:export',
  '/v1/conversations/{conversationId}:search',
];

/** Tells one version of the API from another: a service does not say of which release it is. */
const fingerprint = (document: object): string =>
  createHash('sha256').update(JSON.stringify(document)).digest('hex').slice(0, 12);

/** Tokens are good from some seconds before their time on; more than this is refused. */
const CLOCK_SKEW_MS = 60_000;

const health: Step<SmokeContext> = {
  name: 'health',
  needs: [],
  run: async ({ client }) => {
    await client.json(healthResponse, { path: '/v1/health' });
    return client.url;
  },
};

const clock: Step<SmokeContext> = {
  name: 'clock',
  needs: ['health'],
  run: async ({ client }) => {
    const response = await client.open({ path: '/v1/health' });
    await response.arrayBuffer();
    const skewMs = Date.now() - Date.parse(response.headers.get('date') ?? '');
    if (Number.isNaN(skewMs)) return { notRun: 'the answer has no date' };
    if (Math.abs(skewMs) <= CLOCK_SKEW_MS) return undefined;
    const seconds = Math.round(Math.abs(skewMs) / 1_000);
    throw new SmokeFailure({
      tried: `GET ${client.url}/v1/health`,
      came: `the server’s clock is ${seconds} s ${skewMs > 0 ? 'behind' : 'ahead of'} the one here`,
      remedy:
        'Set the clock of this machine (NTP): tokens that are made by it are refused as not good yet, or expired.',
    });
  },
};

const openapi: Step<SmokeContext> = {
  name: 'openapi',
  needs: ['health'],
  run: async ({ client }) => {
    const document = await client.json(openapiSchema, { path: '/v1/openapi.json' });
    const { paths, openapi: version } = document;
    const missing = NEEDED_PATHS.filter((path) => !(path in paths));
    if (missing.length > 0)
      throw new SmokeFailure({
        tried: `GET ${client.url}/v1/openapi.json`,
        came: `it lacks ${missing.join(', ')}`,
        remedy: 'An older version is deployed: `npm run package`, then `terraform apply`.',
      });
    return `OpenAPI ${version}, ${Object.keys(paths).length} paths, fingerprint ${fingerprint(document)}`;
  },
};

const signIn: Step<SmokeContext> = {
  name: 'sign-in',
  needs: ['health'],
  run: async (context) => {
    const { headers, who } = await context.options.signIn();
    context.client = createSmokeClient({ url: context.client.url, headers });
    return who;
  },
};

const cors: Step<SmokeContext> = {
  name: 'cors',
  needs: ['health'],
  run: async ({ client, options: { origin } }) => {
    if (origin === undefined) return { notRun: 'no --origin was given' };
    const response = await fetch(`${client.url}/v1/conversations`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    await response.arrayBuffer();
    const allowed = response.headers.get('access-control-allow-origin');
    if (allowed === origin || allowed === '*') return origin;
    throw new SmokeFailure({
      tried: `OPTIONS ${client.url}/v1/conversations from ${origin}`,
      came: `HTTP ${response.status}, access-control-allow-origin: ${allowed ?? 'none'}`,
      remedy: `Add ${origin} to cors_origins (CORS_ORIGINS) and apply; a load balancer before chat must pass OPTIONS on.`,
    });
  },
};

/** Whether somebody answers, and who. */
export const serviceSteps: readonly Step<SmokeContext>[] = [health, clock, openapi, cors, signIn];
