import type { History } from '#shared/conversation/documents/history.ts';
import { AppError } from '#shared/errors.ts';

export const generationNotFound = (conversationId: string, generation: number) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'GENERATION_NOT_FOUND',
    message: `no generation ${generation} in ${conversationId}`,
    publicMessage: `The conversation has no generation ${generation}. Look at the list of compactions.`,
    metadata: { generation: String(generation) },
  });

export const generationErased = (conversationId: string, generation: number) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'GENERATION_ERASED',
    message: `generation ${generation} of ${conversationId} covered a turn that was erased`,
    publicMessage: `Generation ${generation} told of a message that was deleted, and was erased with it. Choose another generation, or 0 for none.`,
    metadata: { generation: String(generation) },
  });

export const generationOutdated = (conversationId: string, generation: number) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'GENERATION_OUTDATED',
    message: `generation ${generation} of ${conversationId} covers turns that changed since`,
    publicMessage: `Generation ${generation} tells of messages that were edited since. Restore another generation, or 0 for none.`,
    metadata: { generation: String(generation) },
  });

export const snapshotUnreadable = (conversationId: string, generation: number) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'SNAPSHOT_UNREADABLE',
    message: `generation ${generation} of ${conversationId} cannot be read`,
    publicMessage: `The summary of generation ${generation} is damaged and is not used. Choose another generation, or 0 for none.`,
    metadata: { generation: String(generation) },
  });

export const requestIdReused = (
  conversationId: string,
  { requestId, restoredFrom = 0 }: Pick<History, 'requestId' | 'restoredFrom'>,
) =>
  new AppError({
    status: 'ALREADY_EXISTS',
    reason: 'IDEMPOTENCY_KEY_REUSED',
    message: `request ${requestId} of ${conversationId} restored generation ${restoredFrom}`,
    publicMessage: `This requestId has restored generation ${restoredFrom}. Draw a new one to restore another generation.`,
    metadata: { restoredFrom: String(restoredFrom) },
  });
