import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import {
  changeGeneration,
  type Decision,
  requestAfterChange,
} from '#functions/chat/context/change-generation.ts';
import { notFoundError } from '#functions/chat/not-found.ts';
import { continueHistory, readPresent } from '#functions/context/continue-history.ts';
import { selectOutputForms } from '#functions/context/next-call.ts';
import {
  type ClosedTurns,
  closeTurns,
  markErasing,
} from '#functions/erasure/erase-conversation.ts';
import { publishErase, publishRequest } from '#functions/events/publish-request.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import { readableHistory } from '#shared/conversation/context/find-history.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import {
  readAnyConversation,
  readContextParts,
} from '#shared/conversation/context/read-conversation.ts';
import {
  type Conversation,
  type CompactionRequests,
  UnreadableConversationError,
} from '#shared/conversation/documents/conversation.ts';
import { inboxWrites } from '#shared/conversation/documents/inbox.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { refuseMismatch } from '../etag.ts';
import {
  type OwnConversation,
  changeConversation,
  type ConversationTarget,
} from '../own-conversation.ts';

/** SOFT_DELETE_DAYS counts days of 24 hours, whatever the clock on the wall does. */
const DAY_MS = 24 * 60 * 60_000;

/** States in which a conversation can be deleted: a second time changes nothing. */
const DELETABLE = ['live', 'deleted'] as const;

interface DeleteRequest extends ConversationTarget {
  /** The header; see `refuseMismatch`. */
  ifMatch?: string | undefined;
}

/** What a conversation document in the bin says. */
const deletedFields = ({ SOFT_DELETE_DAYS }: ChatDependencies['config'], now: Date) => {
  const purgeTime = new Date(now.getTime() + SOFT_DELETE_DAYS * DAY_MS);
  return { state: 'deleted', deleteTime: now, purgeTime, compactionRequests: {} } as const;
};

/** What a deletion changes of what was read: an answer that it stops has ended, and was not read. */
const readAfter = ({ writes }: ClosedTurns) => (writes.length > 0 ? { unread: true } : {});

async function decideDelete(
  dependencies: ChatDependencies,
  { own, by, ifMatch }: { own: OwnConversation; by: string; ifMatch: string | undefined },
): Promise<Decision<Conversation>> {
  const { config, store, clock } = dependencies;
  const { conversationId } = own;
  const conversation = own.conversation.value;
  if (conversation.state === 'deleted') return { result: conversation };
  refuseMismatch(dependencies, ifMatch, own.conversation);
  const now = clock.now();
  const target = { conversationId, conversation };
  const present = await readPresent(dependencies, target);
  const next = await continueHistory(dependencies, target, {
    source: await readableHistory(dependencies, target, present.history),
    present,
    state: 'CHANGED',
    requestId: by,
    by,
    afterTokens: present.history?.afterTokens ?? 0,
  });
  const closed = await closeTurns(store, { conversationId, conversation, now, keepsAnswers: true });
  const deleted = { ...deletedFields(config, now), ...closed.fields };
  const { open: _open, queue: _queue, ...rest } = next.conversationAfter;
  const conversationAfter: Conversation = { ...rest, ...deleted, updateTime: now };
  return {
    ...next,
    conversationAfter,
    fields: deleted,
    remove: ['open', 'queue'],
    writes: [
      ...closed.writes,
      ...inboxWrites(conversationId, conversationAfter, { now, read: readAfter(closed) }),
    ],
    result: conversationAfter,
  };
}

/** The same for a conversation whose document cannot be read: nothing goes on with it, so it takes no generation. */
const binUnreadable = (
  { store, clock, config }: ChatDependencies,
  conversationId: string,
): Promise<Conversation> =>
  retryWhenLost(clock, async () => {
    const conversation = await readAnyConversation(store, conversationId);
    if (!conversation || !DELETABLE.some((state) => state === conversation.value.state))
      throw notFoundError();
    if (conversation.value.state === 'deleted') return conversation.value;
    const now = clock.now();
    const target = { conversationId, conversation: conversation.value, now };
    const closed = await closeTurns(store, { ...target, keepsAnswers: true });
    const fields = { ...deletedFields(config, now), ...closed.fields, updateTime: now };
    const remove = ['open', 'queue'];
    const guard = { updateTime: conversation.updateTime };
    await store.commit([
      { op: 'update', path: conversationPath(conversationId), fields, remove, guard },
      ...closed.writes,
      ...inboxWrites(
        conversationId,
        { ...conversation.value, ...fields, open: undefined },
        { now, read: readAfter(closed) },
      ),
    ]);
    return { ...conversation.value, ...fields };
  });

/**
 * Puts a conversation into the bin: nobody finds it any more but `undeleteConversation`, until the sweep
 * erases it after `SOFT_DELETE_DAYS`. Turns that run or wait are cancelled, with what was said so far; a compaction is dropped.
 * Deleted before → the same again. Throws NOT_FOUND, ETAG_MISMATCH, GENERATION_MISMATCH (412).
 */
export async function deleteConversation(
  dependencies: ChatDependencies,
  { ifMatch, ...input }: DeleteRequest,
): Promise<Conversation> {
  const conversation = await changeGeneration<Conversation>(
    dependencies,
    { ...input, states: DELETABLE },
    (own, by) => decideDelete(dependencies, { own, by, ifMatch }),
  ).catch((error: unknown) => {
    if (!(error instanceof UnreadableConversationError) || error.ownerUid !== input.caller.uid)
      throw error;
    return binUnreadable(dependencies, input.conversationId);
  });
  await passCrashPoint(dependencies, 'conversation-deleted');
  return conversation;
}

/**
 * Has a caller's own conversation, in the bin or not, erased for good. What is left to do when this
 * returns is the worker's; nobody finds the conversation any more. Erasing already → the same again.
 * Throws NOT_FOUND, ETAG_MISMATCH, GENERATION_MISMATCH (412).
 */
export async function eraseOwnConversation(
  dependencies: ChatDependencies,
  { caller, conversationId, ifMatch }: DeleteRequest,
): Promise<void> {
  const marked = await markErasing(dependencies, conversationId, (conversation, updateTime) => {
    const isTheirs = conversation.ownerUid === caller.uid && conversation.state !== 'forking';
    if (isTheirs && conversation.state !== 'erasing')
      refuseMismatch(dependencies, ifMatch, { value: conversation, updateTime });
    return isTheirs;
  });
  if (marked !== 'erasing') throw notFoundError();
  await passCrashPoint(dependencies, 'conversation-marked');
  await publishErase(dependencies, conversationId);
  await passCrashPoint(dependencies, 'erase-published');
}

/** What was asked for when it went into the bin was dropped there; the context asks again. */
async function dueRequest(
  dependencies: ChatDependencies,
  conversationId: string,
  conversation: Conversation,
): Promise<CompactionRequests['auto']> {
  const { history, turns } = await readContextParts(dependencies, { conversationId, conversation });
  const { tokens } = contextTokens(
    { conversation, history, turns },
    selectOutputForms(dependencies, conversation),
  );
  return requestAfterChange(dependencies, { conversation, history, tokens });
}

/**
 * Takes a conversation out of the bin, as it was when it was put there. Live already → the same again.
 * Throws NOT_FOUND, also for one that is being erased.
 */
export async function undeleteConversation(
  dependencies: ChatDependencies,
  input: ConversationTarget,
): Promise<Conversation> {
  const target = { ...input, states: ['live', 'deleted'] as const };
  const conversation = await changeConversation<Conversation>(
    dependencies,
    target,
    async ({ conversation: { value } }) => {
      if (value.state === 'live') return { result: value };
      const { deleteTime: _deleteTime, purgeTime: _purgeTime, ...kept } = value;
      const updateTime = dependencies.clock.now();
      const auto = await dueRequest(dependencies, input.conversationId, value);
      const compactionRequests = auto ? { auto } : {};
      const result = { ...kept, state: 'live' as const, updateTime, compactionRequests };
      return {
        fields: {
          state: 'live',
          updateTime,
          compactionRequests: auto ? { auto: { ...auto } } : {},
        },
        remove: ['deleteTime', 'purgeTime'],
        writes: inboxWrites(input.conversationId, result, { now: updateTime }),
        result,
      };
    },
  );
  await passCrashPoint(dependencies, 'conversation-undeleted');
  const { auto } = conversation.compactionRequests;
  if (auto) {
    const { conversationId } = input;
    const { requestId, trigger } = auto;
    await publishRequest(dependencies, { conversationId, requestId, trigger });
  }
  return conversation;
}
