import { z } from 'zod';
import { noQuery } from '#shared/wire/queries.ts';
import { usageResponse } from '#shared/wire/resources/usage.ts';
import { showUsage } from '#functions/quota/show-usage.ts';
import { noBody, userRoute } from '../route.ts';

export const usageRoute = userRoute({
  operation: 'getUsage',
  method: 'GET',
  path: '/v1/users/me/usage',
  summary:
    'What the caller may take in a day and a minute, has taken, and has left. Days are those of UTC.',
  params: z.strictObject({}),
  query: noQuery,
  body: noBody,
  response: usageResponse,
  statuses: [200],
  handle: async (dependencies, { caller }) => ({
    kind: 'json',
    body: await showUsage(dependencies, caller),
  }),
});
