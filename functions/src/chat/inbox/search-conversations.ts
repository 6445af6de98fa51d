import { abortedError } from '#functions/lib/async-iterators.ts';
import { loadIndex } from '#functions/recall/read-index.ts';
import {
  type Conversation,
  decodeConversation,
  UnreadableConversationError,
} from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { NewerDocumentError } from '#shared/conversation/documents/read-document.ts';
import type { Caller, StoredDocument } from '#shared/ports/ports.ts';
import { type Passage, SEGMENT_TURNS, segmentNumber } from '#shared/recall/segment.ts';
import { turnSearch } from '#shared/search/rank-turns.ts';
import { decodePageToken, encodePageToken, type PageScope } from '#shared/store/page-token.ts';
import type { SearchAllView, SearchHitView } from '#shared/wire/resources/search.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { isOwn } from '../conversations/own-conversation.ts';
import { listConversations, type ListedEntry } from './list-conversations.ts';
import { scanTurns, readTexts } from '../features/scan-turns.ts';
import { hitView, snippetFinder } from '../features/search-messages.ts';
import { z } from 'zod';

/** Conversations that are looked into side by side, and how many such rounds a request makes: 50 conversations. */
const AT_ONCE = 5;
const ROUNDS_MAX = 10;
/** After so many documents, or milliseconds, no other round begins. */
const DOCUMENTS_MAX = 2_000;
const SEARCH_MS = 3_000;
/** Of one conversation: the newest turns that are not folded, the newest parts of the index, the best messages. */
const TAIL_TURNS = 200;
const SEGMENTS = 4;
const MESSAGES = 10;
/** Passages that are looked at for those: a message may have many, and those of tools are none. */
const PASSAGES = 20 * MESSAGES;

/**
 * Where in the inbox the page begins, through how many rounds from there it goes (0: up to the bounds), and how many
 * hits of them were given before.
 */
const pageStartSchema = z.strictObject({
  inbox: z.string(),
  rounds: z.number().int().min(0).max(ROUNDS_MAX),
  given: z.number().int().min(0),
});
type PageStart = z.infer<typeof pageStartSchema>;

interface SearchRequest {
  caller: Caller;
  q: string;
  pageSize: number;
  pageToken?: string | undefined;
  /** Fires when nobody waits for the answer any more. */
  left: AbortSignal;
}

type SearchDependencies = Pick<ChatDependencies, 'store' | 'cache' | 'logger' | 'clock' | 'sha256'>;

/** What was found in one conversation. */
interface ConversationHits {
  hits: readonly SearchHitView[];
  documentsRead: number;
  /** Turns that were not searched. */
  turnsSkipped: number;
}

/** Folded turns are looked up in the index, the others in their transcript; what was found is told as it is stored. */
async function searchConversation(
  dependencies: SearchDependencies,
  target: { conversationId: string; conversation: Conversation },
  q: string,
): Promise<ConversationHits> {
  const { lastSeq, pendingErasure } = target.conversation;
  const hidden = new Set(pendingErasure?.seqs);
  const search = turnSearch(q);
  const index = await loadIndex(dependencies, { ...target, segmentsMax: SEGMENTS });
  const { throughSeq, segments } = index;
  const tail = await scanTurns(dependencies, {
    ...target,
    newest: lastSeq,
    turnsMax: Math.min(TAIL_TURNS, lastSeq - throughSeq),
    // Also what is in no context: its user saw it.
    visit: (texts) => search.lookInto({ ...texts, inContext: true }),
  });
  const indexed = segments.map((segment) => ({ segment, throughSeq }));
  const lookAt = snippetFinder(q);
  const fits = new Map<string, number>();
  for (const { passage, fit } of search.passages(PASSAGES, indexed, hidden)) {
    if (fits.size >= MESSAGES || passage.role === 'tool' || fits.has(keyOf(passage))) continue;
    if (lookAt(passage.text).snippet !== undefined) fits.set(keyOf(passage), fit);
  }
  const seqs = new Set([...fits.keys()].map((key) => Number.parseInt(key)));
  // The index may still have what was deleted, and does not know the ids of messages.
  const turns = await readTexts(dependencies, target, [...seqs]);
  const hits = turns.flatMap((turn) =>
    turn.messages.flatMap((message) => {
      const score = fits.get(keyOf({ ...turn, ...message }));
      const { snippet } = lookAt(message.text);
      if (score === undefined || snippet === undefined) return [];
      return [hitView({ ...turn, ...message }, { snippet, score })];
    }),
  );
  const segmentsSkipped = segmentNumber(throughSeq) - segments.length;
  const indexedSkipped = Math.min(throughSeq, segmentsSkipped * SEGMENT_TURNS);
  const turnsSkipped = tail.oldestSeq - 1 - throughSeq + indexedSkipped;
  const documentsRead = 1 + segments.length + tail.turns + seqs.size;
  return { hits, documentsRead, turnsSkipped };
}

const keyOf = ({ seq, role }: Pick<Passage, 'seq' | 'role'>) => `${seq}/${role}`;

type Listed = Awaited<ReturnType<typeof listConversations>>;

/** A conversation of the inbox; without `found` it cannot be read. */
interface SearchedEntry extends ListedEntry {
  found?: ConversationHits;
}

/** Searches a conversation of the inbox. Nothing of one that is not the caller's, or is in the bin. */
async function searchEntry(
  dependencies: SearchDependencies,
  listed: ListedEntry,
  { document, request }: { document: StoredDocument | undefined; request: SearchRequest },
): Promise<SearchedEntry[]> {
  const { caller, q, left } = request;
  if (left.aborted) throw abortedError();
  // Checked before the conversation is decoded, so that nobody learns of one of another user that cannot be read.
  if (document?.fields['ownerUid'] !== caller.uid) return [];
  try {
    const { value: conversation } = decodeConversation(document);
    if (!isOwn(conversation, caller)) return [];
    const target = { conversationId: listed.id, conversation };
    return [{ ...listed, found: await searchConversation(dependencies, target, q) }];
  } catch (error) {
    if (error instanceof NewerDocumentError || error instanceof UnreadableConversationError)
      return [listed];
    throw error;
  }
}

/** Searches conversations round by round, from where a page begins in the inbox, until a bound is reached. */
async function searchInbox(
  dependencies: SearchDependencies,
  request: SearchRequest,
  from: PageStart,
): Promise<{ searched: SearchedEntry[]; rounds: number; inbox: string | undefined }> {
  const { store, clock } = dependencies;
  const startMs = clock.now().getTime();
  const searched: SearchedEntry[] = [];
  let inbox: string | undefined = from.inbox;
  let rounds = 0;
  const hasRoom = () => {
    if (from.rounds > 0) return rounds < from.rounds;
    const documents = searched.reduce((sum, { found }) => sum + (found?.documentsRead ?? 1), 0);
    const isInTime = clock.now().getTime() - startMs < SEARCH_MS;
    return rounds < ROUNDS_MAX && documents < DOCUMENTS_MAX && isInTime;
  };
  for (; inbox !== undefined && hasRoom(); rounds++) {
    const page: Listed = await listConversations(dependencies, {
      caller: request.caller,
      pageSize: AT_ONCE,
      pageToken: inbox === '' ? undefined : inbox,
    });
    const entries = page.entries.filter(({ entry }) => entry?.list !== 'deleted');
    const stored = await store.get(entries.map(({ id }) => conversationPath(id)));
    const round = entries.map((listed, i) =>
      searchEntry(dependencies, listed, { document: stored[i], request }),
    );
    searched.push(...(await Promise.all(round)).flat());
    inbox = page.nextPageToken;
  }
  return { searched, rounds, inbox };
}

/** What the reader is told of the conversations beside the hits. */
function aboutConversations(
  searched: readonly SearchedEntry[],
  q: string,
): Pick<SearchAllView, 'titles' | 'unreached'> {
  const lookAt = snippetFinder(q);
  const titles = searched.flatMap(({ id, entry: { title = '' } = {}, found }) =>
    found && lookAt(title).snippet !== undefined ? [{ conversationId: id, title }] : [],
  );
  const unreached = searched.flatMap(({ found, ...listed }) => {
    if (!found) return [titled(listed)];
    return found.turnsSkipped > 0 ? [{ ...titled(listed), turns: found.turnsSkipped }] : [];
  });
  return { titles, unreached };
}

const titled = ({ id, entry }: ListedEntry) => ({
  conversationId: id,
  ...(entry?.title !== undefined && { title: entry.title }),
});

/**
 * Messages of all of a caller's conversations that have the words of `q`, the best first. A request looks into up to 50
 * conversations, those with the newest message first; the page token goes on, first with more hits of the same
 * conversations, then with the others. A conversation that cannot be read is named and passed by. Throws
 * PAGE_TOKEN_INVALID, StoreUnavailableError, and ABORTED when nobody waits for the answer any more.
 */
export async function searchConversations(
  dependencies: SearchDependencies,
  request: SearchRequest,
): Promise<SearchAllView> {
  const { caller, q, pageSize, pageToken: token } = request;
  const { sha256 } = dependencies;
  const scope: PageScope = { uid: caller.uid, list: 'search', parameters: { q } };
  const first: PageStart = { inbox: '', rounds: 0, given: 0 };
  const start = decodePageToken(sha256, scope, { schema: pageStartSchema, token }) ?? first;
  const { searched, rounds, inbox } = await searchInbox(dependencies, request, start);
  const hits = searched
    .flatMap(({ found, ...listed }) =>
      (found?.hits ?? []).map((hit) => ({ ...titled(listed), ...hit })),
    )
    .toSorted((a, b) => b.score - a.score || Date.parse(b.at) - Date.parse(a.at));
  const given = start.given + pageSize;
  const next =
    given < hits.length
      ? { inbox: start.inbox, rounds, given }
      : inbox !== undefined && { ...first, inbox };
  return {
    hits: hits.slice(start.given, given),
    ...(start.given === 0 ? aboutConversations(searched, q) : { titles: [], unreached: [] }),
    searched: searched.filter(({ found }) => found).length,
    ...(next && { nextPageToken: encodePageToken(sha256, scope, next) }),
  };
}
