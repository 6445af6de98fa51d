import { z } from 'zod';
import {
  ERRORS_PATH,
  errorReasonResponse,
  explainedReasons,
} from '#shared/wire/errors/explain-reason.ts';
import { AppError } from '#shared/errors.ts';
import { noQuery } from '#shared/wire/queries.ts';
import { noBody, publicRoute } from '../route.ts';

const unknownReason = () =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'NOT_FOUND',
    message: 'an unknown reason was asked for',
    publicMessage: `No error has this reason. GET ${ERRORS_PATH} lists all of them.`,
    metadata: { field: 'reason' },
  });

const reasonParams = z.strictObject({
  reason: z.string().describe('As `details` of the error has it, such as `USER_RPM`.'),
});

/** Where the `Help` of every error leads. */
export const getErrorReasonRoute = publicRoute({
  operation: 'getErrorReason',
  method: 'GET',
  path: `${ERRORS_PATH}/{reason}`,
  summary: 'What a reason of an error means, what helps, and whether to try again.',
  params: reasonParams,
  query: noQuery,
  body: noBody,
  response: errorReasonResponse,
  statuses: [200],
  handle: (_, { params }) => {
    const name = params.reason.toUpperCase();
    const explained = explainedReasons().find(({ reason }) => reason === name);
    if (!explained) throw unknownReason();
    return Promise.resolve({ kind: 'json', body: explained });
  },
});

/** For whoever handles all of them. */
export const listErrorReasonsRoute = publicRoute({
  operation: 'listErrorReasons',
  method: 'GET',
  path: ERRORS_PATH,
  summary: 'Every reason that an error may have.',
  params: noQuery,
  query: noQuery,
  body: noBody,
  response: z.object({ reasons: z.array(errorReasonResponse) }),
  statuses: [200],
  handle: () => Promise.resolve({ kind: 'json', body: { reasons: explainedReasons() } }),
});
