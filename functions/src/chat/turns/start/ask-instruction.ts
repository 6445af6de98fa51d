import { toUser } from '#functions/app-steps.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { refuseLargeOverhead } from '#functions/chat/conversations/writable-fields.ts';
import { withDeadline } from '#functions/lib/deadline.ts';
import { deadlineReason, errorOfApp } from '#functions/lib/failure-reason.ts';
import { hookFault } from '#functions/lib/run-hook.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { AppError } from '#shared/lib/errors.ts';
import { inOneLine, safeParse } from '#shared/lib/safe-parse.ts';
import { conversationPatchSchema } from '#shared/wire/resources/conversations.ts';
import type { TurnToBegin } from './begun-turn.ts';

/** The bounds of a client's instruction: what exceeds them could not be stored, or not be read back. */
const instructionSchema = conversationPatchSchema.shape.systemInstruction;

/** How long a message waits for the app's instruction, ms. */
const INSTRUCTION_TIMEOUT_MS = 2_000;

/**
 * The app's new system instruction for a turn that begins; undefined where it gives none, or the stored one. A failure,
 * or an instruction that cannot be stored or leaves no room for a conversation, is logged, and the stored one stays.
 */
export async function askInstruction(
  dependencies: ChatDependencies,
  { request, decision }: TurnToBegin,
  conversation: Conversation,
): Promise<string | undefined> {
  const { appInstruction, clock, logger } = dependencies;
  const isNew = decision.kind === 'start' || decision.kind === 'beginQueued';
  if (!appInstruction || !isNew) return undefined;
  const { caller, conversationId } = request;
  try {
    const given = await withDeadline(
      { clock, ms: INSTRUCTION_TIMEOUT_MS, signal: new AbortController().signal },
      () => appInstruction({ user: toUser(caller), conversationId }),
    );
    const read = safeParse(instructionSchema, given);
    if (!read.success)
      throw hookFault(`the instruction cannot be stored: ${inOneLine(read.error)}`);
    const systemInstruction = read.data;
    if (systemInstruction === undefined || systemInstruction === conversation.systemInstruction)
      return undefined;
    refuseLargeOverhead(dependencies, { ...conversation, systemInstruction });
    return systemInstruction;
  } catch (error) {
    logger.log('ERROR', 'system_instruction_failed', {
      conversationId,
      reason: deadlineReason(error),
      // Our own words: what is wrong with it.
      problem: error instanceof AppError ? error.message : undefined,
      ...errorOfApp(error),
    });
    return undefined;
  }
}
