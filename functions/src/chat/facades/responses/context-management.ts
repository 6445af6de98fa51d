import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { CreateResponseBody } from '#shared/wire/facades/responses/request.ts';
import type { ResponseOutputItem } from '#shared/wire/facades/responses/response.ts';
import { createConversation } from '#functions/chat/conversations/create-conversation.ts';
import { updateConversation } from '#functions/chat/conversations/update-conversation.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { readOwnConversation } from '../openai/message-id.ts';
import { badInput } from './bad-input.ts';
import { compactionContent, type ResponsePlace } from './response-id.ts';

type Managed = Pick<CreateResponseBody, 'context_management'>;

/** Throws BAD_FIELD where nothing is stored to be compacted. */
export function refuseManagement({ context_management: ways }: Managed, isStored: boolean): void {
  if (!isStored && (ways ?? []).length > 0)
    throw badInput(
      'context_management',
      '`context_management` is for conversations: a dialogue that the client keeps is not compacted. Send its last message with `conversation` or `previous_response_id`, or leave the field out.',
    );
}

/**
 * Writes the threshold of a request into its conversation, as a PATCH of `settings.thresholdTokens` would. Throws
 * THRESHOLD_TOO_HIGH, THRESHOLD_TOO_LOW, NOT_FOUND.
 */
export async function declareThreshold(
  dependencies: RouteDependencies,
  target: { caller: Caller; conversationId: string; body: Managed },
): Promise<void> {
  const { caller, conversationId, body } = target;
  const thresholdTokens = body.context_management?.[0]?.compact_threshold;
  if (typeof thresholdTokens !== 'number') return;
  const path = conversationPath(conversationId);
  const conversation = await readOwnConversation(dependencies, { uid: caller.uid, path });
  if (conversation?.settings.thresholdTokens === thresholdTokens) return;
  const patch = { settings: { thresholdTokens } };
  if (conversation) await updateConversation(dependencies, { caller, conversationId, patch });
  else await createConversation(dependencies, { caller, id: conversationId, fields: patch });
}

/** An item that stands for a conversation up to a place in it. */
export function compactionItem(place: Omit<ResponsePlace, 'answeredCalls'>): ResponseOutputItem {
  const content = compactionContent(place);
  return { type: 'compaction', id: `cmp_${content}`, encrypted_content: content };
}

/** The item of an answer whose context holds a summary, for a client that asks for compaction: it may drop the rest. */
export async function compactionItems(
  dependencies: RouteDependencies,
  target: { caller: Caller; body: Managed; place: ResponsePlace },
): Promise<ResponseOutputItem[]> {
  const { caller, body, place } = target;
  if ((body.context_management ?? []).length === 0) return [];
  const path = conversationPath(place.conversationId);
  const conversation = await readOwnConversation(dependencies, { uid: caller.uid, path });
  return (conversation?.coveredThrough.seq ?? 0) > 0 ? [compactionItem(place)] : [];
}
