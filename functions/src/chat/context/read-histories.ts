import { cleanHistory } from '../../../../shared/conversation/erased-history.ts';
import type { Head } from '../../../../shared/conversation/head.ts';
import { decodeHistory, type History } from '../../../../shared/conversation/history.ts';
import { historyPath } from '../../../../shared/conversation/paths.ts';
import { AppError } from '../../../../shared/errors.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/** The histories of some generations in the order asked for; missing ones are left out. */
export async function readHistories(
  { store }: Pick<ChatDependencies, 'store'>,
  { conversationId, head }: { conversationId: string; head: Head },
  generations: readonly number[],
): Promise<History[]> {
  const documents = await store.get(
    generations.map((generation) => historyPath(conversationId, generation)),
  );
  return documents.flatMap((document) =>
    document ? [cleanHistory(head, decodeHistory(document))] : [],
  );
}

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
