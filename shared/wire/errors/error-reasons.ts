import { answerReasons } from './answer-reasons.ts';
import { contextReasons } from './context-reasons.ts';
import type { ErrorReasonRow } from './reason-row.ts';
import { requestReasons } from './request-reasons.ts';
import { resourceReasons } from './resource-reasons.ts';

/**
 * Every reason that an answer of the API may carry. A new reason gets a row in one of the four tables; the
 * OpenAPI document, the reference and the tests of routes read them.
 */
export const errorReasons = {
  ...requestReasons,
  ...resourceReasons,
  ...contextReasons,
  ...answerReasons,
} as const satisfies Record<string, ErrorReasonRow>;

export type ErrorReasonName = keyof typeof errorReasons;

/** The rows in the order of the table. */
export const errorReasonRows: readonly (ErrorReasonRow & { reason: string })[] = Object.entries(
  errorReasons,
).map(([reason, row]) => ({ reason, ...row }));
