import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import type { ApprovalChunk } from '#shared/wire/facades/ai-sdk.ts';
import { DENIED } from '#shared/conversation/context/tool-results.ts';

/** The header with which a client says which `ai` it has. */
export const AI_SDK_VERSION_HEADER = 'x-ai-sdk-version';

/** The first version whose messages know approvals; the chunks crash the one before. */
const FIRST_WITH_APPROVALS = 6;

const knowsApprovals = (version: string | undefined) =>
  Number.parseInt(version ?? '', 10) >= FIRST_WITH_APPROVALS;

type UiFrame = StreamFrame | { id: number; chunk: ApprovalChunk };

/** A frame in the words of the AI SDK 6 and 7, which have their own for the user's yes and no. */
function withApproval(frame: StreamFrame): UiFrame {
  const { id, chunk } = frame;
  if (chunk.type === 'data-notice' && chunk.data.kind === 'approval') {
    const { callId } = chunk.data;
    return { id, chunk: { type: 'tool-approval-request', approvalId: callId, toolCallId: callId } };
  }
  if (chunk.type === 'tool-output-error' && chunk.errorText === DENIED.error)
    return { id, chunk: { type: 'tool-output-denied', toolCallId: chunk.toolCallId } };
  return frame;
}

async function* withApprovals(frames: AsyncIterable<StreamFrame>): AsyncGenerator<UiFrame> {
  for await (const frame of frames) yield withApproval(frame);
}

/** Frames as a client of this version understands them; one that says none gets what every version does. */
export const framesFor = (
  version: string | undefined,
  frames: AsyncIterable<StreamFrame>,
): AsyncIterable<UiFrame> => (knowsApprovals(version) ? withApprovals(frames) : frames);
