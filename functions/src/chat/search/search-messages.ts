import { z } from 'zod';
import { readTurns } from '../../../../shared/conversation/read-conversation.ts';
import type { Turn } from '../../../../shared/conversation/turn.ts';
import type { Caller } from '../../../../shared/ports.ts';
import { findInText, type FoundInText } from '../../../../shared/search/find-in-text.ts';
import {
  addSearched,
  isHit,
  nothingSearched,
  scoreOf,
  type SearchedTexts,
} from '../../../../shared/search/rank-texts.ts';
import { readSearchQuery, type SearchQuery } from '../../../../shared/search/search-query.ts';
import { snippetOf } from '../../../../shared/search/snippet.ts';
import {
  decodePageToken,
  encodePageToken,
  type PageScope,
} from '../../../../shared/wire/page-token.ts';
import type { MessageView } from '../../../../shared/wire/responses/messages.ts';
import type { SearchHitView, SearchView } from '../../../../shared/wire/responses/search.ts';
import { answerView, hasAnswer, userMessageView } from '../../../../shared/wire/views.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { readOwnConversation } from '../conversation/own-conversation.ts';

/** Turns that one request looks through, and UTF-16 units of text after which it stops earlier. */
export const SEARCH_TURNS = 2_000;
const SEARCH_CHARACTERS = 8_000_000;
/** Turns of one read; each may hold a MiB. */
const TURNS_PER_READ = 50;

/** Newest turn of the stretch that is looked through, and how many of its hits were given before. */
const placeSchema = z.strictObject({
  t: z.number().int().min(0),
  n: z.number().int().min(0),
});

interface SearchRequest {
  caller: Caller;
  conversationId: string;
  q: string;
  pageSize: number;
  pageToken?: string | undefined;
}

interface Candidate {
  message: MessageView;
  snippet: string;
  found: Pick<FoundInText, 'counts' | 'length'>;
}

interface Looked {
  searched: SearchedTexts;
  candidates: Candidate[];
  characters: number;
}

const textOf = ({ parts }: MessageView) =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** Looks through user message and answer of a turn. A message that was deleted has no text. */
function lookInto(looked: Looked, turn: Turn, query: SearchQuery & { reach: number }): void {
  const messages = [userMessageView(turn), ...(hasAnswer(turn) ? [answerView(turn)] : [])];
  for (const message of messages) {
    const text = textOf(message);
    if (text === '') continue;
    looked.characters += text.length;
    const { places, counts, length } = findInText(text, query);
    addSearched(looked.searched, { places, counts, length });
    if (!isHit({ counts })) continue;
    const snippet = snippetOf(text, places, query.reach);
    looked.candidates.push({ message, snippet, found: { counts, length } });
  }
}

/** Looks through turns, the newest first, until a bound is reached; returns the oldest that was read. */
async function lookThrough(
  { store }: Pick<ChatDependencies, 'store'>,
  of: { conversationId: string; newest: number; query: SearchQuery & { reach: number } },
): Promise<Looked & { oldest: number }> {
  const { conversationId, newest, query } = of;
  const units = query.words.length + query.stretches.length;
  const looked: Looked = { searched: nothingSearched(units), candidates: [], characters: 0 };
  const end = Math.max(1, newest - SEARCH_TURNS + 1);
  let oldest = newest + 1;
  while (oldest > end && looked.characters < SEARCH_CHARACTERS) {
    const length = Math.min(TURNS_PER_READ, oldest - end);
    const seqs = Array.from({ length }, (_, i) => oldest - 1 - i);
    for (const { value } of await readTurns(store, conversationId, seqs))
      lookInto(looked, value, query);
    oldest -= length;
  }
  return { ...looked, oldest };
}

function hitsOf({ candidates, searched }: Looked): SearchHitView[] {
  return candidates
    .map(({ message, snippet, found }) => ({
      seq: message.seq,
      role: message.role,
      messageId: message.id,
      at: message.createTime,
      snippet,
      score: Math.round(scoreOf(found, searched) * 1_000) / 1_000,
    }))
    .toSorted((a, b) => b.score - a.score || b.seq - a.seq);
}

/**
 * Messages of the full transcript that have the words of `q`, the best first. A request looks through at
 * most 2,000 turns, the newest first, and ranks what it finds there; the page token goes on, first with
 * more hits of the same turns, then with older turns, and `searched` says how far it looked.
 * Throws NOT_FOUND, PAGE_TOKEN_INVALID.
 */
export async function searchMessages(
  dependencies: Pick<ChatDependencies, 'store' | 'signer'>,
  request: SearchRequest,
): Promise<SearchView> {
  const { caller, conversationId, q, pageSize, pageToken: token } = request;
  const { signer } = dependencies;
  const { head } = await readOwnConversation(dependencies, request);
  const scope: PageScope = {
    uid: caller.uid,
    list: `search/${conversationId}`,
    parameters: { q },
  };
  const place = decodePageToken(signer, scope, { schema: placeSchema, token });
  const newest = Math.min(place?.t ?? head.value.lastSeq, head.value.lastSeq);
  const given = place?.n ?? 0;
  const query = { ...readSearchQuery(q), reach: q.length };
  const looked = await lookThrough(dependencies, { conversationId, newest, query });
  const hits = hitsOf(looked);
  const shown = hits.slice(given, given + pageSize);
  const next = nextPlace({ newest, given: given + shown.length, hits: hits.length, ...looked });
  return {
    hits: shown,
    searched: {
      turns: newest - looked.oldest + 1,
      newestSeq: newest,
      oldestSeq: looked.oldest,
      isWhole: looked.oldest <= 1,
    },
    ...(next && { nextPageToken: encodePageToken(signer, scope, next) }),
  };
}

function nextPlace(at: { newest: number; oldest: number; given: number; hits: number }) {
  if (at.given < at.hits) return { t: at.newest, n: at.given };
  return at.oldest > 1 ? { t: at.oldest - 1, n: 0 } : undefined;
}
