import type { ConversationApi } from '../api/chat-api.ts';
import { pageNumber, seqBefore, TURNS_PER_PAGE, toTurns, type StoredTurn } from './turn-pages.ts';

/** These turns of the transcript, in their order. Throws ApiError. */
export async function loadTurns(
  api: Pick<ConversationApi, 'messages'>,
  seqs: readonly number[],
): Promise<StoredTurn[]> {
  const wanted = new Set(seqs);
  const turns: StoredTurn[] = [];
  // One page after the other: a server takes only so many calls of one user at once.
  for (const page of new Set(seqs.map(pageNumber))) {
    const { messages } = await api.messages(seqBefore(page), 2 * TURNS_PER_PAGE);
    turns.push(...toTurns(messages).filter((turn) => wanted.delete(turn.seq)));
  }
  return turns;
}
