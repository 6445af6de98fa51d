import { contentText } from '#shared/conversation/documents/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { decodeMessageGuard } from '#shared/conversation/documents/message-guard.ts';
import { messageGuardPath } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import {
  firstTailSeq,
  readTurnRange,
  readTurns,
} from '#shared/conversation/context/read-conversation.ts';
import { REPLACED_MAX } from '#shared/conversation/decisions/start-decision.ts';
import type { ChatCompletionBody, OpenAiUserMessage } from '#shared/wire/facades/openai.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { findHistoryPlace } from './history-place.ts';

const saidIn = ({ content }: OpenAiUserMessage): string =>
  typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? part.text : '')).join('');

const stands = ({ replacedBy, eraseTime }: Turn) => !replacedBy && !eraseTime;

/** The turn of a message that was sent before. */
export async function sentTurn(
  { store }: Pick<RouteDependencies, 'store'>,
  { conversationId, messageId }: { conversationId: string; messageId: string },
): Promise<Turn | undefined> {
  const [guard] = await store.get([messageGuardPath(conversationId, messageId)]);
  if (!guard) return undefined;
  return (await readTurns(store, conversationId, [decodeMessageGuard(guard).seq]))[0]?.value;
}

/**
 * Id of the message in whose place a new one is said, by the history that the client sends in front of it; undefined
 * where it comes after all.
 */
export async function editedMessage(
  dependencies: Pick<RouteDependencies, 'store' | 'cache'>,
  asked: { conversationId: string; conversation: Conversation; body: ChatCompletionBody },
): Promise<string | undefined> {
  const { conversationId, conversation, body } = asked;
  const { lastSeq } = conversation;
  const isWhole = body.metadata?.history === 'whole';
  const before = body.messages
    .slice(0, -1)
    .flatMap((message) => (message.role === 'user' ? saidIn(message) : []));
  if (before.length === 0 && !isWhole) return undefined;
  // No edit goes farther back.
  const fromSeq = Math.max(1, firstTailSeq(conversation), lastSeq - REPLACED_MAX);
  const range = { conversationId, conversation, fromSeq, toSeq: lastSeq };
  const turns = (await readTurnRange(dependencies, range)).filter(stands);
  const said = turns.map(({ seq, user }) => ({ seq, text: contentText(user) }));
  const place = findHistoryPlace({ before, turns: said, isWhole });
  return turns.find(({ seq }) => seq === place)?.messageId;
}
