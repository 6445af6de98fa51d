import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { viewContext } from '#functions/chat/context/view-context.ts';
import { keepUploads, namedBy, namingWrites } from '#functions/chat/features/uploads.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { statusWrite } from '#shared/conversation/writes/status-write.ts';
import { mayBeCommitted } from '#shared/errors.ts';
import type { Write } from '#shared/ports/ports.ts';
import { beginWrites, type Draft } from './begin-writes.ts';
import type { ContextBefore } from './context-before.ts';

/**
 * Commits a batch that gives a turn to `producer`, and returns the turn's update time. After a lost reply,
 * or a client that repeated the commit by itself, the turn stands there with that nonce, which no other
 * batch writes: that is success. Throws GuardLostError, StoreUnavailableError.
 */
export async function commitStart(
  dependencies: Pick<ChatDependencies, 'store'>,
  start: { conversationId: string; seq: number; producer: string; writes: readonly Write[] },
): Promise<string> {
  const { conversationId, seq, writes } = start;
  const path = turnPath(conversationId, seq);
  try {
    const updateTimes = await dependencies.store.commit(writes);
    return updateTimes[writes.findIndex((write) => write.path === path)] ?? '';
  } catch (error) {
    if (!mayBeCommitted(error)) throw error;
    const [turn] = await readTurns(dependencies.store, conversationId, [seq]);
    if (turn?.value.producer === start.producer) return turn.updateTime;
    throw error;
  }
}

/** Tells the owner's other devices that the conversation goes on from an earlier point. */
async function replacementStatus(
  dependencies: ChatDependencies,
  { request, state }: Draft,
  before: ContextBefore,
): Promise<Write[]> {
  if (!before.replacement) return [];
  const status = viewContext(dependencies, { ...before, job: state.job, locale: undefined });
  return [await statusWrite(dependencies.store, request.conversationId, { ...status })];
}

/**
 * Makes the beginning of a turn durable, with all that belongs to it, in one batch. Returns the turn's update time.
 * Throws GuardLostError, StoreUnavailableError.
 */
export async function commitBeginning(
  dependencies: ChatDependencies,
  draft: Draft,
  before: ContextBefore,
): Promise<string> {
  const { conversationId } = draft.request;
  const { kind, seq } = draft.decision;
  const { producer } = draft.lease;
  const status = await replacementStatus(dependencies, draft, before);
  const naming = { conversationId, seq, user: draft.message.user };
  const named = kind === 'start' ? await namingWrites(dependencies, namedBy(naming)) : [];
  const writes = [...beginWrites(draft), ...status, ...named];
  const committed = commitStart(dependencies, { conversationId, seq, producer, writes });
  // A cold instance loads the model's SDK while it waits for the store.
  dependencies.model.prepare?.();
  const turnUpdateTime = await committed;
  if (before.replacement?.compactionRequest)
    await passCrashPoint(dependencies, 'replacement-begun');
  await keepUploads(dependencies, naming);
  return turnUpdateTime;
}
