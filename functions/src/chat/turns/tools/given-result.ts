import type { ToolResult } from '#shared/conversation/context/tool-results.ts';
import { jsonFault } from '#shared/bounded-json.ts';
import { AppError } from '#shared/errors.ts';
import { OUTPUT_MAX_BYTES } from './tool-limits.ts';
import { errorResponse, storableResponse } from './tool-response.ts';

const badValue = (field: string, fault: string) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_FIELD',
    message: `the result of a call was refused for its ${field}`,
    publicMessage: `\`${field}\` ${fault}.`,
    metadata: { field },
  });

/** What an app says to one call, in the words of a request: one of the three. */
interface GivenResult {
  callId: string;
  output?: unknown;
  error?: string | undefined;
  approved?: boolean | undefined;
}

/**
 * The same as the use case takes it: a response that can be stored, or the user's word. Throws BAD_FIELD, which names
 * `field`, for what cannot.
 */
export function toToolResult(
  { callId, output, error, approved }: GivenResult,
  field: string,
): ToolResult {
  if (approved !== undefined) return { callId, kind: 'approval', isApproved: approved };
  const fault = jsonFault(output ?? error);
  if (fault !== undefined) throw badValue(field, fault);
  const response =
    error === undefined ? storableResponse(output, OUTPUT_MAX_BYTES) : errorResponse(error);
  return { callId, kind: 'response', response };
}
