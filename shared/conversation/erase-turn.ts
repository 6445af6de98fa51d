import type { DocumentFields, DocumentStore, Write } from '../ports.ts';
import type { Head, Versioned } from './head.ts';
import { messageGuardPath, turnPath } from './paths.ts';
import { readHead } from './read-conversation.ts';
import type { Turn } from './turn.ts';

/** What of a turn goes. */
export type Wiped = 'turn' | 'answer';

/** Whether that part of a turn has been erased before. A turn that lost its question has no answer. */
export const isWiped = (turn: Turn, wiped: Wiped) =>
  turn.eraseTime !== undefined && (wiped === 'answer' || turn.user.parts.length === 0);

const noUser: Turn['user'] = { role: 'user', parts: [] };

/** The turn as it is left: its place, its state and its bill, and nothing of what was said. */
export const wipedTurn = (turn: Turn, wiped: Wiped, now: Date): Turn => ({
  ...turn,
  inContext: false,
  tokens: { user: wiped === 'turn' ? 0 : turn.tokens.user, answer: 0 },
  eraseTime: turn.eraseTime ?? now,
  user: wiped === 'turn' ? noUser : turn.user,
  contents: [],
});

/**
 * Empties a turn. The guard of its message stays, so that the id never asks the model again; the hash of
 * an erased message goes, because a short text can be guessed from it.
 */
export function wipeWrites(
  conversationId: string,
  turn: Versioned<Turn>,
  { wiped, now }: { wiped: Wiped; now: Date },
): Write[] {
  const { seq, messageId } = turn.value;
  const left = wipedTurn(turn.value, wiped, now);
  const fields: DocumentFields = {
    inContext: left.inContext,
    tokens: left.tokens,
    eraseTime: left.eraseTime,
    answerJson: '[]',
    answerPieces: 0,
    ...(wiped === 'turn' && { userJson: JSON.stringify(left.user), userPieces: 0 }),
  };
  const guard: Write = {
    op: 'update',
    path: messageGuardPath(conversationId, messageId),
    fields: { bodyHash: '' },
    guard: { exists: true },
  };
  return [
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields,
      remove: ['chunks'],
      guard: { updateTime: turn.updateTime },
    },
    ...(wiped === 'turn' ? [guard] : []),
  ];
}

/** The head's note that turns are to be erased everywhere else too, with one turn more. */
export const pendingWith = (
  pending: Head['pendingErasure'],
  more: { seq: number; blobs: readonly string[]; now: Date },
): NonNullable<Head['pendingErasure']> => ({
  since: pending?.since ?? more.now,
  seqs: [...new Set([...(pending?.seqs ?? []), more.seq])],
  blobs: [...new Set([...(pending?.blobs ?? []), ...more.blobs])],
});

/** The head of a conversation in which an erasure is to be finished, or undefined. */
export async function readPending(
  store: Pick<DocumentStore, 'get'>,
  conversationId: string,
): Promise<(Versioned<Head> & { pending: NonNullable<Head['pendingErasure']> }) | undefined> {
  const head = await readHead(store, conversationId);
  const pending = head?.value.pendingErasure;
  // What is being erased as a whole needs no erasing in part.
  if (!head || !pending || head.value.state === 'erasing') return undefined;
  return { ...head, pending };
}
