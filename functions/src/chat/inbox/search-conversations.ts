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
const placeSchema = z.strictObject({
  inbox: z.string(),
  rounds: z.number().int().min(0).max(ROUNDS_MAX),
  given: z.number().int().min(0),
});
type Place = z.infer<typeof placeSchema>;

interface SearchRequest {
  caller: Caller;
  q: string;
  pageSize: number;
  pageToken?: string | undefined;
  /** Fires when nobody waits for the answer any more. */
  left: AbortSignal;
}

type SearchDependencies = Pick<ChatDependencies, 'store' | 'cache' | 'logger' | 'clock' | 'sha256'>;

/** What was looked into of a conversation, and what was found. */
interface Looked {
  hits: readonly SearchHitView[];
  documents: number;
  /** Turns that were passed by. */
  turnsLeft: number;
}

/** Folded turns are looked up in the index, the others in their transcript; what was found is told as it is stored. */
async function lookInto(
  dependencies: SearchDependencies,
  target: { conversationId: string; conversation: Conversation },
  q: string,
): Promise<Looked> {
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
  const segmentsLeft = segmentNumber(throughSeq) - segments.length;
  const indexedLeft = Math.min(throughSeq, segmentsLeft * SEGMENT_TURNS);
  const turnsLeft = tail.oldestSeq - 1 - throughSeq + indexedLeft;
  const documents = 1 + segments.length + tail.turns + seqs.size;
  return { hits, documents, turnsLeft };
}

const keyOf = ({ seq, role }: Pick<Passage, 'seq' | 'role'>) => `${seq}/${role}`;

type Listed = Awaited<ReturnType<typeof listConversations>>;

/** A conversation of the inbox; not `looked`: it cannot be read. */
interface Reached extends ListedEntry {
  looked?: Looked;
}

/** Looks into a conversation; nothing of one that is not the caller's, or is in the bin. */
async function reach(
  dependencies: SearchDependencies,
  listed: ListedEntry,
  { document, request }: { document: StoredDocument | undefined; request: SearchRequest },
): Promise<Reached[]> {
  const { caller, q, left } = request;
  if (left.aborted) throw abortedError();
  // Before it is read, so that nobody learns of another one's that cannot be.
  if (document?.fields['ownerUid'] !== caller.uid) return [];
  try {
    const { value: conversation } = decodeConversation(document);
    if (!isOwn(conversation, caller)) return [];
    const looked = await lookInto(dependencies, { conversationId: listed.id, conversation }, q);
    return [{ ...listed, looked }];
  } catch (error) {
    if (error instanceof NewerDocumentError || error instanceof UnreadableConversationError)
      return [listed];
    throw error;
  }
}

/** Looks into conversations round by round, from a place in the inbox on, until a bound is reached. */
async function lookIntoInbox(
  dependencies: SearchDependencies,
  request: SearchRequest,
  from: Place,
): Promise<{ reached: Reached[]; rounds: number; inbox: string | undefined }> {
  const { store, clock } = dependencies;
  const startMs = clock.now().getTime();
  const reached: Reached[] = [];
  let inbox: string | undefined = from.inbox;
  let rounds = 0;
  const hasRoom = () => {
    if (from.rounds > 0) return rounds < from.rounds;
    const documents = reached.reduce((sum, { looked }) => sum + (looked?.documents ?? 1), 0);
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
      reach(dependencies, listed, { document: stored[i], request }),
    );
    reached.push(...(await Promise.all(round)).flat());
    inbox = page.nextPageToken;
  }
  return { reached, rounds, inbox };
}

/** What the reader is told of the conversations beside the hits. */
function aboutConversations(
  reached: readonly Reached[],
  q: string,
): Pick<SearchAllView, 'titles' | 'unreached'> {
  const lookAt = snippetFinder(q);
  const titles = reached.flatMap(({ id, entry: { title = '' } = {}, looked }) =>
    looked && lookAt(title).snippet !== undefined ? [{ conversationId: id, title }] : [],
  );
  const unreached = reached.flatMap(({ looked, ...listed }) => {
    if (!looked) return [titled(listed)];
    return looked.turnsLeft > 0 ? [{ ...titled(listed), turns: looked.turnsLeft }] : [];
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
  const none: Place = { inbox: '', rounds: 0, given: 0 };
  const place = decodePageToken(sha256, scope, { schema: placeSchema, token }) ?? none;
  const { reached, rounds, inbox } = await lookIntoInbox(dependencies, request, place);
  const hits = reached
    .flatMap(({ looked, ...listed }) =>
      (looked?.hits ?? []).map((hit) => ({ ...titled(listed), ...hit })),
    )
    .toSorted((a, b) => b.score - a.score || Date.parse(b.at) - Date.parse(a.at));
  const given = place.given + pageSize;
  const next =
    given < hits.length
      ? { inbox: place.inbox, rounds, given }
      : inbox !== undefined && { ...none, inbox };
  return {
    hits: hits.slice(place.given, given),
    ...(place.given === 0 ? aboutConversations(reached, q) : { titles: [], unreached: [] }),
    searched: reached.filter(({ looked }) => looked).length,
    ...(next && { nextPageToken: encodePageToken(sha256, scope, next) }),
  };
}
