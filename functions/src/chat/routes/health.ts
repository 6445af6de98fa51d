import { z } from 'zod';
import { healthResponse } from '#shared/wire/resources/usage.ts';
import { noBody, type Route } from '../route.ts';

/** For load balancers and monitors: says that the process answers, and asks nobody else. */
export const healthRoute: Route = {
  operation: 'getHealth',
  method: 'GET',
  path: '/v1/health',
  summary: 'Whether the service answers.',
  access: 'public',
  params: z.strictObject({}),
  query: z.object({}),
  body: noBody,
  response: healthResponse,
  statuses: [200],
  run: () => Promise.resolve({ kind: 'json', body: { status: 'ok' } }),
};
