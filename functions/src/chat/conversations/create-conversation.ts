import {
  decodeConversation,
  type Conversation,
} from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { ConversationPatch } from '#shared/wire/resources/conversations.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { patchedConversation, patchedPaths } from './conversation-patch.ts';
import { firstConversation } from '../turns/start/first-conversation.ts';
import { toLowerUuid } from '#shared/uuid.ts';
import { notFoundError } from '../not-found.ts';
import { readNotes } from '#functions/memory/prompt-memory.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import { isOwn } from './own-conversation.ts';
import {
  refuseLargeOverhead,
  refuseRouting,
  refuseUnknownModel,
  refuseTakenNames,
  refuseThreshold,
  refuseUnwritable,
} from './writable-fields.ts';

interface CreateRequest {
  caller: Caller;
  /** Drawn here when the caller chose none. */
  id?: string | undefined;
  fields: ConversationPatch;
}

function requestedConversation(
  dependencies: ChatDependencies,
  request: CreateRequest,
  memoryRevision: number,
): Conversation {
  const { config } = dependencies;
  const conversation = firstConversation(dependencies, request.caller, memoryRevision);
  const paths = patchedPaths(request.fields);
  refuseUnwritable(config, paths);
  refuseRouting(config, request.fields);
  refuseUnknownModel(config, request.fields, config.MODEL);
  refuseTakenNames(dependencies, request.fields);
  const patched = patchedConversation(conversation, request.fields, { paths, config });
  refuseThreshold(config, patched, request.fields);
  refuseLargeOverhead(dependencies, patched);
  return patched;
}

/**
 * Creates a conversation. An id that the caller already has gives that conversation as it is
 * (`isNew: false`), and counts as none more. Throws USER_DAILY_CREATIONS, ANONYMOUS_LIMIT, FIELD_NOT_WRITABLE,
 * ROUTING_NOT_SET, MODEL_UNKNOWN, THRESHOLD_TOO_HIGH, TOOL_NAME_TAKEN, OVERHEAD_TOO_LARGE, and NOT_FOUND for an id that
 * is taken by somebody else or deleted, as everywhere.
 */
export async function createConversation(
  dependencies: ChatDependencies,
  request: CreateRequest,
): Promise<{ conversationId: string; conversation: Conversation; isNew: boolean }> {
  const conversationId = request.id ? toLowerUuid(request.id) : dependencies.randomness.uuid();
  const path = conversationPath(conversationId);
  const { revision } = await readNotes(dependencies, request.caller.uid);
  const conversation = requestedConversation(dependencies, request, revision);
  const { store, quota, clock } = dependencies;
  return retryWhenLost(clock, async () => {
    const [document] = request.id === undefined ? [] : await store.get([path]);
    if (document) {
      const existing = decodeConversation(document).value;
      if (!isOwn(existing, request.caller)) throw notFoundError(conversationId);
      return { conversationId, conversation: existing, isNew: false };
    }
    const counted = await quota.create(request.caller, 1);
    await store.commit([{ op: 'create', path, fields: { ...conversation } }, ...counted]);
    return { conversationId, conversation, isNew: true };
  });
}
