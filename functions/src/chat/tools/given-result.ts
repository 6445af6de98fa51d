import type { ToolResult } from '../../../../shared/conversation/tool-results.ts';
import { OUTPUT_MAX_BYTES } from './tool-limits.ts';
import { errorResponse, storableResponse } from './tool-response.ts';

/** What an app says to one call, in the words of a request: one of the three. */
export interface GivenResult {
  callId: string;
  output?: unknown;
  error?: string | undefined;
  approved?: boolean | undefined;
}

/** The same as the use case takes it: a response that can be stored, or the user's word. */
export function toolResultOf({ callId, output, error, approved }: GivenResult): ToolResult {
  if (approved !== undefined) return { callId, kind: 'approval', isApproved: approved };
  const response =
    error === undefined ? storableResponse(output, OUTPUT_MAX_BYTES) : errorResponse(error);
  return { callId, kind: 'response', response };
}
