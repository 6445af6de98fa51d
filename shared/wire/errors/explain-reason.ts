import {
  retryAdvice,
  errorStatuses,
  type ErrorStatus,
  errorReasonRows,
  retryAdvices,
  type ErrorReasonRow,
} from '#shared/lib/error-reasons.ts';
import { httpStatusByStatus } from './error-body.ts';
import { z } from 'zod';

/** Where the reasons are explained, each under its name. */
export const ERRORS_PATH = '/v1/errors';

/** What `GET /v1/errors/{reason}` answers. */
export const errorReasonResponse = z.object({
  reason: z.string(),
  meaning: z.string().describe('When it comes, and what helps.'),
  answers: z
    .array(
      z.object({
        httpStatus: z.number().int(),
        status: z.enum(errorStatuses),
        retry: z
          .enum(retryAdvices)
          .describe(
            'Whether the same request may be sent again: `yes`, after `Retry-After` where it is given; `later`, when what is in its way has passed; `no`, because it would meet the same error.',
          ),
      }),
    )
    .min(1)
    .describe('How it comes.'),
});
export type ErrorReasonExplained = z.infer<typeof errorReasonResponse>;

/** The codes that a row of the table can come with. */
export const answersOfRow = (row: ErrorReasonRow): { httpStatus: number; status: ErrorStatus }[] =>
  [row.status, ...(row.otherStatus ? [row.otherStatus] : [])].map((status) => ({
    httpStatus: row.httpStatus ?? httpStatusByStatus[status],
    status,
  }));

const explain = (row: ErrorReasonRow & { reason: string }): ErrorReasonExplained => ({
  reason: row.reason,
  meaning: row.meaning,
  answers: answersOfRow(row).map((answer) => ({
    ...answer,
    retry: retryAdvice(row, answer.status),
  })),
});

/** Every reason of the API, explained, in alphabetical order. */
export const explainedReasons = (): ErrorReasonExplained[] =>
  errorReasonRows.map(explain).toSorted((a, b) => (a.reason < b.reason ? -1 : 1));
