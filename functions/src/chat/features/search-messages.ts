import type { ChatDependencies } from '../chat-dependencies.ts';
import { readOwnConversation, type ConversationTarget } from '../conversations/own-conversation.ts';
import {
  createFinder,
  type CountedText,
  readSearchQuery,
  cutSnippet,
} from '#shared/search/find-in-text.ts';
import { isHit, textScores } from '#shared/search/rank-texts.ts';
import type { MessageText, TurnTexts } from '#shared/search/turn-texts.ts';
import { decodePageToken, encodePageToken, type PageScope } from '#shared/store/page-token.ts';
import type { SearchHitView, SearchView } from '#shared/wire/resources/search.ts';
import { scanTurns } from './scan-turns.ts';
import { z } from 'zod';

/** Turns that one request looks through. */
const SEARCH_TURNS = 2_000;

/** Newest turn of the stretch that is looked through, and how many of its hits were given before. */
const placeSchema = z.strictObject({
  t: z.number().int().min(0),
  n: z.number().int().min(0),
});

interface SearchRequest extends ConversationTarget {
  q: string;
  pageSize: number;
  pageToken?: string | undefined;
}

/** A message that was looked through; its texts are let go. */
interface Looked {
  message: Omit<MessageText, 'text'> & Pick<TurnTexts, 'seq' | 'isReplaced'>;
  counted: CountedText;
  /** Undefined: no hit. */
  snippet: string | undefined;
}

/** Looks for the words of `q` in texts; a text with enough of them has a snippet. */
export function snippetFinder(q: string) {
  const findIn = createFinder(readSearchQuery(q));
  return (text: string) => {
    const { places, ...counted } = findIn(text);
    return { counted, snippet: isHit(counted) ? cutSnippet(text, places, q.length) : undefined };
  };
}

/** Looks into turns one by one and remembers what ranking needs. */
function messageSearch(q: string) {
  const lookAt = snippetFinder(q);
  const looked: Looked[] = [];
  function lookInto({ seq, isReplaced, messages }: TurnTexts): void {
    // An answer comes after its question: the newest is looked into first.
    for (const { text, ...message } of messages.toReversed())
      looked.push({ message: { ...message, seq, isReplaced }, ...lookAt(text) });
  }
  return { looked, lookInto };
}

/** A message that was found. */
export const hitView = (
  { seq, role, id, time, isReplaced }: Looked['message'],
  { snippet, score }: { snippet: string; score: number },
): SearchHitView => ({
  seq,
  role,
  messageId: id,
  at: time.toISOString(),
  ...(isReplaced && { replaced: true }),
  snippet,
  score: Math.round(score * 1_000) / 1_000,
});

function hitsOf(looked: readonly Looked[]): SearchHitView[] {
  const scores = textScores(looked.map(({ counted }) => counted));
  return looked
    .flatMap(({ message, snippet }, i) => {
      if (snippet === undefined) return [];
      return [hitView(message, { snippet, score: scores[i] ?? 0 })];
    })
    .toSorted((a, b) => b.score - a.score || b.seq - a.seq);
}

/**
 * Messages of the full transcript that have the words of `q`, in any form, the best first. A request looks
 * through at most 2,000 turns, the newest first, and ranks what it finds there; the page token goes on, first
 * with more hits of the same turns, then with older turns, and `searched` says how far it looked.
 * Throws NOT_FOUND, PAGE_TOKEN_INVALID.
 */
export async function searchMessages(
  dependencies: Pick<ChatDependencies, 'store' | 'cache' | 'sha256'>,
  request: SearchRequest,
): Promise<SearchView> {
  const { caller, conversationId, q, pageSize, pageToken: token } = request;
  const { sha256 } = dependencies;
  const { conversation } = await readOwnConversation(dependencies, request);
  const scope: PageScope = {
    uid: caller.uid,
    list: `search/${conversationId}`,
    parameters: { q },
  };
  const place = decodePageToken(sha256, scope, { schema: placeSchema, token });
  const newest = Math.min(place?.t ?? conversation.value.lastSeq, conversation.value.lastSeq);
  const given = place?.n ?? 0;
  const { looked, lookInto } = messageSearch(q);
  const searched = await scanTurns(dependencies, {
    conversationId,
    conversation: conversation.value,
    newest,
    turnsMax: SEARCH_TURNS,
    visit: lookInto,
  });
  const hits = hitsOf(looked);
  const shown = hits.slice(given, given + pageSize);
  const next = nextPlace({
    newest,
    oldest: searched.oldestSeq,
    given: given + shown.length,
    hits: hits.length,
  });
  return {
    hits: shown,
    searched,
    ...(next && { nextPageToken: encodePageToken(sha256, scope, next) }),
  };
}

function nextPlace(at: { newest: number; oldest: number; given: number; hits: number }) {
  if (at.given < at.hits) return { t: at.newest, n: at.given };
  return at.oldest > 1 ? { t: at.oldest - 1, n: 0 } : undefined;
}
