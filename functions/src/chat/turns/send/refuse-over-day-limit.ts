import type { Head } from '#shared/conversation/documents/head.ts';
import { AppError } from '#shared/errors.ts';
import { isPassingLimit } from '#shared/quota/quota-error.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { quotaReservationRequest } from './quota-reservation.ts';
import type { SendRequest } from './send-request.ts';

/**
 * Refuses a message that is to wait in the queue, before anything is stored, where a limit stands in its way that it
 * cannot wait for: one of the day. Nothing is reserved. Throws quota reasons, StoreUnavailableError.
 */
export async function refuseOverDayLimit(
  dependencies: Pick<ChatDependencies, 'quota' | 'config'>,
  request: SendRequest,
  { head, estimatedTokens }: { head: Head; estimatedTokens: number },
): Promise<void> {
  const asked = quotaReservationRequest(dependencies.config, request, {
    model: head.model,
    attempt: 1,
  });
  try {
    await dependencies.quota.reserve({ ...asked, estimatedTokens });
  } catch (error) {
    if (!(error instanceof AppError && isPassingLimit(error))) throw error;
  }
}
