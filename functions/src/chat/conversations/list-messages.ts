import type { ChatDependencies } from '../chat-dependencies.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { hasAnswer, type Turn } from '#shared/conversation/documents/turn.ts';
import { decodePageToken, encodePageToken, type PageScope } from '#shared/store/page-token.ts';
import { answerView, userMessageView, type MessageView } from '#shared/wire/resources/messages.ts';
import { readOwnConversation, type ConversationTarget } from './own-conversation.ts';
import { z } from 'zod';

/** A message's position: 2 × seq for the user's, one more for the answer. */
interface Placed {
  position: number;
  message: MessageView;
}

const userPosition = (seq: number) => 2 * seq;
const seqAt = (position: number) => Math.floor(position / 2);

const messagesOf = (turn: Turn): Placed[] => [
  { position: userPosition(turn.seq), message: userMessageView(turn) },
  ...(hasAnswer(turn) ? [{ position: userPosition(turn.seq) + 1, message: answerView(turn) }] : []),
];

interface MessagePage extends ConversationTarget {
  pageSize: number;
  pageToken?: string | undefined;
  order: 'asc' | 'desc';
  /** Only messages of later turns: what a second device misses. */
  afterSeq: number;
}

const scopeOf = ({ caller, conversationId, order, afterSeq }: MessagePage): PageScope => ({
  uid: caller.uid,
  list: `messages/${conversationId}`,
  parameters: { order, afterSeq },
});

const placeSchema = z.strictObject({ p: z.number().int().min(0) });

/** First and last position that may be on the page, both included, whatever the order. */
function window({ sha256 }: Pick<ChatDependencies, 'sha256'>, page: MessagePage, lastSeq: number) {
  const token = page.pageToken;
  const place = decodePageToken(sha256, scopeOf(page), { schema: placeSchema, token });
  const first = userPosition(page.afterSeq + 1);
  const last = userPosition(lastSeq) + 1;
  if (!place) return { first, last };
  return page.order === 'asc'
    ? { first: Math.max(first, place.p + 1), last }
    : { first, last: Math.min(last, place.p - 1) };
}

/** The seqs of the next read, in the order of the page. */
function seqsOf(range: { first: number; last: number }, order: 'asc' | 'desc', count: number) {
  const [from, to] = [seqAt(range.first), seqAt(range.last)];
  const length = Math.max(0, Math.min(count, to - from + 1));
  return Array.from({ length }, (_, i) => (order === 'asc' ? from + i : to - i));
}

/**
 * A page of the full transcript, never the compacted one: user message and answer of every turn, failed
 * ones included. Turns are read by id, about as many as the page shows, however long the conversation is.
 * Throws NOT_FOUND, PAGE_TOKEN_INVALID.
 */
export async function listMessages(
  dependencies: Pick<ChatDependencies, 'store' | 'sha256'>,
  page: MessagePage,
): Promise<{ messages: MessageView[]; nextPageToken?: string }> {
  const { order, pageSize, conversationId } = page;
  const { conversation } = await readOwnConversation(dependencies, page);
  const range = window(dependencies, page, conversation.value.lastSeq);
  const found: Placed[] = [];
  while (found.length <= pageSize && range.first <= range.last) {
    const seqs = seqsOf(range, order, Math.ceil((pageSize + 1 - found.length) / 2));
    const lastRead = seqs.at(-1);
    if (lastRead === undefined) break;
    const turns = await readTurns(dependencies.store, conversationId, seqs);
    const placed = turns
      .flatMap(({ value }) =>
        order === 'asc' ? messagesOf(value) : messagesOf(value).toReversed(),
      )
      .filter(({ position }) => position >= range.first && position <= range.last);
    found.push(...placed);
    if (order === 'asc') range.first = userPosition(lastRead + 1);
    else range.last = userPosition(lastRead) - 1;
  }
  const shown = found.slice(0, pageSize);
  const last = shown.at(-1);
  return {
    messages: shown.map(({ message }) => message),
    ...(found.length > pageSize &&
      last && {
        nextPageToken: encodePageToken(dependencies.sha256, scopeOf(page), { p: last.position }),
      }),
  };
}
