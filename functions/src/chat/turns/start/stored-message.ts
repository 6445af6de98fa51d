import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { hasUnreadUploads, resolveUploads } from '#functions/chat/features/uploads.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import { encodeAnswerOptions } from '#shared/models/answer-options.ts';
import { isRouted } from '#shared/routing/routing.ts';
import { userContent, type SendRequest } from '../send/send-request.ts';

/** A user's message as its turn stores it. */
export interface Message {
  user: Content;
  retention: Turn['retention'];
  /** How it is to be answered; of a regeneration: as the one that it repeats, unless it says otherwise. */
  options?: Turn['options'];
  /** Of a regeneration: what the turn that it repeats was given. */
  routing?: Turn['routing'];
}

/** The turn whose message a new turn repeats; undefined for one that says something of its own. */
export const regeneratedBy = (
  { replacing }: SendRequest,
  replaces: number | undefined,
): number | undefined => (replacing?.kind === 'regenerate' ? replaces : undefined);

/** What a turn was given before it begins here: as it is stored, or as the turn that it repeats was answered. */
export const storedRouting = (
  { model }: Pick<Conversation, 'model'>,
  { routing }: Message,
  known?: Pick<Turn, 'routing'>,
): Turn['routing'] => (isRouted(model) ? (known?.routing ?? routing) : undefined);

/**
 * What the user says in a turn: as sent, with its uploads looked up while it is `isNew`; or, in a regeneration
 * and for a message with uploads that is stored, as it stands in turn `storedSeq` already (the replaced one before
 * the new turn is stored, the new one after it). Throws what `resolveUploads` throws.
 */
export async function storedMessage(
  { store, files }: Pick<ChatDependencies, 'store' | 'files'>,
  request: SendRequest,
  { storedSeq, isNew }: { storedSeq: number; isNew: boolean },
): Promise<Message> {
  const { caller, conversationId, message, replacing } = request;
  const options = encodeAnswerOptions(request.options);
  if (replacing?.kind !== 'regenerate' && (isNew || !hasUnreadUploads(message.parts))) {
    const parts = await resolveUploads({ store, files }, caller, message.parts);
    return { user: { ...userContent(request), parts }, retention: message.retention, options };
  }
  const [turn] = await readTurns(store, conversationId, [storedSeq]);
  if (!turn)
    throw new StoreUnavailableError({ operation: `turn ${storedSeq} of ${conversationId}` });
  const { user, retention, routing } = turn.value;
  return {
    user,
    retention,
    options: options ?? turn.value.options,
    routing: routing && { ...routing, why: 'rule' },
  };
}
