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

interface Asked {
  conversationId: string;
  conversation: Conversation;
  body: ChatCompletionBody;
}

/** The turns from `fromSeq` on that stand, as far as an edit may replace them. */
async function standingTurns(
  dependencies: Pick<RouteDependencies, 'store' | 'cache'>,
  { conversationId, conversation }: Asked,
  fromSeq: number,
): Promise<Turn[]> {
  const toSeq = Math.min(conversation.lastSeq, fromSeq + REPLACED_MAX);
  const range = { conversationId, conversation, fromSeq, toSeq };
  return (await readTurnRange(dependencies, range)).filter(stands);
}

/**
 * Id of the message in whose place a new one is said, by the history that the client sends in front of it; undefined
 * where it comes after all, and for a history that the server does not know. The turns of the context are looked at
 * first; those that are folded, only where that is not enough.
 */
export async function editedMessage(
  dependencies: Pick<RouteDependencies, 'store' | 'cache'>,
  asked: Asked,
): Promise<string | undefined> {
  const { conversation, body } = asked;
  const isWhole = body.metadata?.history === 'whole';
  const before = body.messages
    .slice(0, -1)
    .flatMap((message) => (message.role === 'user' ? saidIn(message) : []));
  if (before.length === 0 && !isWhole) return undefined;
  const oldest = Math.max(1, conversation.lastSeq - REPLACED_MAX);
  const tail = Math.max(oldest, firstTailSeq(conversation));
  // The very beginning is no place of the tail, however much is folded.
  for (const fromSeq of before.length === 0 ? [1] : new Set([tail, oldest])) {
    const turns = await standingTurns(dependencies, asked, fromSeq);
    const said = turns.map(({ seq, user }) => ({ seq, text: contentText(user) }));
    const place = findHistoryPlace({ before, turns: said, isWhole });
    if (place.kind === 'edit') return turns.find(({ seq }) => seq === place.seq)?.messageId;
    if (place.kind === 'end') return undefined;
  }
  return undefined;
}
