import type { ChatDependencies } from '../chat-dependencies.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { hasAnswer, type Turn } from '#shared/conversation/documents/turn.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
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

type Order = 'asc' | 'desc';

interface MessagePage extends ConversationTarget {
  pageSize: number;
  pageToken?: string | undefined;
  order: Order;
  /** Only messages of later turns: what a second device misses. */
  afterSeq: number;
  /** The first page is the one around this turn, from which pages go on in both directions. */
  around?: number | undefined;
}

const scopeOf = ({ caller, conversationId, order, afterSeq, around }: MessagePage): PageScope => ({
  uid: caller.uid,
  list: `messages/${conversationId}`,
  parameters: { order, afterSeq, ...(around !== undefined && { around }) },
});

/** The position that a page goes on from; `back`: against the order of the list. */
const placeSchema = z.strictObject({
  p: z.number().int().min(0),
  back: z.literal(1).optional(),
});

/** First and last position of a read, both included. */
interface Range {
  first: number;
  last: number;
}

/** The seqs of the next read, in the order of the page. */
function seqsOf(range: Range, order: Order, count: number) {
  const [from, to] = [seqAt(range.first), seqAt(range.last)];
  const length = Math.max(0, Math.min(count, to - from + 1));
  return Array.from({ length }, (_, i) => (order === 'asc' ? from + i : to - i));
}

/** Messages in an order, and where the next ones begin; no place: there are none. */
interface Stretch {
  shown: Placed[];
  /** The last position that belongs to the stretch. */
  nextAfter?: number;
}

/** The first `size` messages of a range. Turns are read by id, about as many as are shown. */
async function readStretch(
  { store, conversationId }: { store: Pick<DocumentStore, 'get'>; conversationId: string },
  range: Range,
  { order, size }: { order: Order; size: number },
): Promise<Stretch> {
  const left = { ...range };
  const found: Placed[] = [];
  while (found.length <= size && left.first <= left.last) {
    const seqs = seqsOf(left, order, Math.ceil((size + 1 - found.length) / 2));
    const lastRead = seqs.at(-1);
    if (lastRead === undefined) break;
    const turns = await readTurns(store, conversationId, seqs);
    const placed = turns
      .flatMap(({ value }) =>
        order === 'asc' ? messagesOf(value) : messagesOf(value).toReversed(),
      )
      .filter(({ position }) => position >= left.first && position <= left.last);
    found.push(...placed);
    if (order === 'asc') left.first = userPosition(lastRead + 1);
    else left.last = userPosition(lastRead) - 1;
  }
  const shown = found.slice(0, size);
  if (found.length <= size) return { shown };
  const before = order === 'asc' ? range.first - 1 : range.last + 1;
  return { shown, nextAfter: shown.at(-1)?.position ?? before };
}

const opposite = (order: Order): Order => (order === 'asc' ? 'desc' : 'asc');

/** What is on the page: messages in its order, and what stands before them, in the opposite one. */
async function readPage(
  { store, sha256 }: Pick<ChatDependencies, 'store' | 'sha256'>,
  page: MessagePage,
  lastSeq: number,
): Promise<{ onward: Stretch; back: Stretch }> {
  const { order, pageSize: size, pageToken: token, conversationId, around } = page;
  const place = decodePageToken(sha256, scopeOf(page), { schema: placeSchema, token });
  const all = { first: userPosition(page.afterSeq + 1), last: userPosition(lastSeq) + 1 };
  const from = (position: number) => ({ ...all, first: Math.max(all.first, position) });
  const upTo = (position: number) => ({ ...all, last: Math.min(all.last, position) });
  const read = (range: Range, towards: Order, count: number) =>
    readStretch({ store, conversationId }, range, { order: towards, size: count });
  if (!place && around !== undefined) {
    const middle = userPosition(Math.min(around, lastSeq));
    const half = Math.floor(size / 2);
    const [earlier, later] = await Promise.all([
      read(upTo(middle - 1), 'desc', half),
      read(from(middle), 'asc', size - half),
    ]);
    return order === 'asc' ? { onward: later, back: earlier } : { onward: earlier, back: later };
  }
  const towards = place?.back ? opposite(order) : order;
  const range = towards === 'asc' ? from((place?.p ?? -1) + 1) : upTo((place?.p ?? Infinity) - 1);
  const stretch = await read(range, towards, size);
  const none = { shown: [] };
  return place?.back ? { onward: none, back: stretch } : { onward: stretch, back: none };
}

/**
 * A page of the full transcript, never the compacted one: user message and answer of every turn, failed
 * ones included. Turns are read by id, about as many as the page shows, however long the conversation is.
 * Throws NOT_FOUND, PAGE_TOKEN_INVALID.
 */
export async function listMessages(
  dependencies: Pick<ChatDependencies, 'store' | 'sha256'>,
  page: MessagePage,
): Promise<{ messages: MessageView[]; nextPageToken?: string; previousPageToken?: string }> {
  const { conversation } = await readOwnConversation(dependencies, page);
  const { onward, back } = await readPage(dependencies, page, conversation.value.lastSeq);
  const tokenOf = (p: number, more: { back?: 1 } = {}) =>
    encodePageToken(dependencies.sha256, scopeOf(page), { p, ...more });
  return {
    messages: [...back.shown.toReversed(), ...onward.shown].map(({ message }) => message),
    ...(onward.nextAfter !== undefined && { nextPageToken: tokenOf(onward.nextAfter) }),
    ...(back.nextAfter !== undefined && {
      previousPageToken: tokenOf(back.nextAfter, { back: 1 }),
    }),
  };
}
