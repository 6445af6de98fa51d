import type { ChatDependencies } from '../chat-dependencies.ts';
import { readOwnConversation, type ConversationTarget } from '../conversations/own-conversation.ts';
import { outcomeMessage } from '#shared/wire/outcome-message.ts';
import { readHistories } from '#shared/conversation/context/find-history.ts';
import { type History, readRatings, type Rating } from '#shared/conversation/documents/history.ts';
import type { CompactionRecord } from '#shared/conversation/documents/job.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { decodePageToken, encodePageToken, type PageScope } from '#shared/store/page-token.ts';
import {
  attemptView,
  historyView,
  snapshotView,
  type CompactionDetailView,
  type CompactionRecordView,
} from '#shared/wire/resources/compaction.ts';
import { ratingView } from '#shared/wire/resources/ratings.ts';
import { generationNotFound } from '../not-found.ts';
import { z } from 'zod';

/** The next generation to look at and the sort key of the last entry shown. */
const placeSchema = z.strictObject({
  g: z.number().int().min(0).max(99_999_999),
  k: z.string().max(128),
});

interface Entry {
  key: string;
  generation?: number;
  view: CompactionRecordView;
}

/** Newest first by time; the request id tells entries of one millisecond apart. */
const keyOf = (finishedAt: Date, requestId: string) => `${finishedAt.toISOString()}#${requestId}`;

function entriesOf(
  found: { histories: readonly History[]; records: readonly CompactionRecord[] },
  locale: string | undefined,
): Entry[] {
  const message = (record: Parameters<typeof outcomeMessage>[0]) => outcomeMessage(record, locale);
  return [
    ...found.histories.map((history) => ({
      key: keyOf(history.createTime, history.requestId),
      generation: history.generation,
      view: historyView(history, message),
    })),
    // What swapped is shown from its history document, which knows more and never goes.
    ...found.records
      .filter(({ generation }) => generation === undefined)
      .map((record) => ({
        key: keyOf(record.finishedAt, record.requestId),
        view: attemptView(record, message),
      })),
  ];
}

/**
 * A page of a conversation's compactions, newest first: every generation, and the newest attempts that
 * changed nothing (the job remembers 20). Throws NOT_FOUND, PAGE_TOKEN_INVALID.
 */
export async function listCompactions(
  dependencies: Pick<ChatDependencies, 'store' | 'sha256' | 'logger'>,
  page: ConversationTarget & {
    pageSize: number;
    pageToken?: string | undefined;
    locale: string | undefined;
  },
): Promise<{ compactions: CompactionRecordView[]; nextPageToken?: string }> {
  const { conversationId, pageSize, locale } = page;
  const { conversation, job } = await readOwnConversation(dependencies, page);
  const scope: PageScope = { uid: page.caller.uid, list: `compactions/${conversationId}` };
  const place = decodePageToken(dependencies.sha256, scope, {
    schema: placeSchema,
    token: page.pageToken,
  });
  const newest = Math.min(place?.g ?? conversation.value.generation, conversation.value.generation);
  const generations = Array.from({ length: Math.min(pageSize, newest) }, (_, i) => newest - i);
  const target = { conversationId, conversation: conversation.value };
  const histories = await readHistories(dependencies, target, generations);
  const entries = entriesOf({ histories, records: job?.records ?? [] }, locale)
    .filter(({ key }) => place === undefined || key < place.k)
    .toSorted((a, b) => (a.key < b.key ? 1 : -1));
  const shown = entries.slice(0, pageSize);
  const last = shown.at(-1);
  const oldestShown = shown.findLast(({ generation }) => generation !== undefined)?.generation;
  const nextGeneration = oldestShown === undefined ? newest : oldestShown - 1;
  const hasMore = entries.length > pageSize || (last !== undefined && nextGeneration > 0);
  return {
    compactions: await withRatings(
      dependencies.store,
      conversationId,
      shown.map(({ view }) => view),
    ),
    ...(hasMore &&
      last && {
        nextPageToken: encodePageToken(dependencies.sha256, scope, {
          g: nextGeneration,
          k: last.key,
        }),
      }),
  };
}

/** The views with what the user thinks of each; one read for all of them. */
async function withRatings(
  store: Pick<DocumentStore, 'get'>,
  conversationId: string,
  views: readonly CompactionRecordView[],
): Promise<CompactionRecordView[]> {
  const generations = views.flatMap(({ generation }) => (generation ? [generation] : []));
  const ratings: ReadonlyMap<number, Rating> = await readRatings(
    store,
    conversationId,
    generations,
  );
  return views.map((view) => {
    const rating = ratings.get(view.generation ?? 0);
    return rating ? { ...view, rating: ratingView(rating) } : view;
  });
}

/** The compaction that made a generation, with what its snapshot says. Throws NOT_FOUND. */
export async function readCompaction(
  dependencies: Pick<ChatDependencies, 'store' | 'logger'>,
  target: ConversationTarget & {
    generation: number;
    locale: string | undefined;
  },
): Promise<CompactionDetailView> {
  const { conversation } = await readOwnConversation(dependencies, target);
  const { conversationId, generation, locale } = target;
  const isKnown = generation <= conversation.value.generation;
  const [history] = isKnown
    ? await readHistories(dependencies, { conversationId, conversation: conversation.value }, [
        generation,
      ])
    : [];
  if (!history) throw generationNotFound(generation);
  const view = historyView(history, (record) => outcomeMessage(record, locale));
  const [rated = view] = await withRatings(dependencies.store, conversationId, [view]);
  return { ...rated, ...(history.snapshot && { snapshot: snapshotView(history.snapshot) }) };
}
