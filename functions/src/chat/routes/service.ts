import { json, publicRoute } from '../route.ts';
import { AppError } from '#shared/lib/errors.ts';
import {
  ERRORS_PATH,
  errorReasonResponse,
  explainedReasons,
} from '#shared/wire/errors/explain-reason.ts';
import { healthResponse } from '#shared/wire/resources/usage.ts';
import { z } from 'zod';

/** For load balancers and monitors: says that the process answers, and asks nobody else. */
export const healthRoute = publicRoute({
  operation: 'getHealth',
  summary: 'Whether the service answers.',
  query: z.object({}),
  response: healthResponse,
  handle: () => json({ status: 'ok' }),
});

const reasonParams = z.strictObject({
  reason: z.string().describe('As `details` of the error has it, such as `USER_RPM`.'),
});

/** Where the `Help` of every error leads. */
export const getErrorReasonRoute = publicRoute({
  operation: 'getErrorReason',
  summary: 'What a reason of an error means, what helps, and whether to try again.',
  params: reasonParams,
  response: errorReasonResponse,
  handle: (_, { params }) => {
    const name = params.reason.toUpperCase();
    const explained = explainedReasons().find(({ reason }) => reason === name);
    if (!explained)
      throw new AppError({
        reason: 'NOT_FOUND',
        publicMessage: `No error has this reason. GET ${ERRORS_PATH} lists all of them.`,
        metadata: { field: 'reason' },
      });
    return json(explained);
  },
});

/** For whoever handles all of them. */
export const listErrorReasonsRoute = publicRoute({
  operation: 'listErrorReasons',
  summary: 'Every reason that an error may have.',
  response: z.object({ reasons: z.array(errorReasonResponse) }),
  handle: () => json({ reasons: explainedReasons() }),
});
