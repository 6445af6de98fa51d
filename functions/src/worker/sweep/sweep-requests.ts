import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { requestEvent } from '#shared/compaction/event.ts';
import {
  type CompactionRequest,
  decideOverdue,
  REPUBLISH_AFTER_MS,
  requestOfKind,
} from '#shared/compaction/request-decisions.ts';
import {
  decodeConversation,
  type Conversation,
  type Versioned,
} from '#shared/conversation/documents/conversation.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath, requestPlacesPath } from '#shared/conversation/documents/paths.ts';
import { NewerDocumentError } from '#shared/conversation/documents/read-document.ts';
import { dropRequestWrites, type DroppedRequest } from '#shared/compaction/drop-request-writes.ts';
import { GuardLostError } from '#shared/lib/errors.ts';
import type { StoredDocument, DocumentStore, Write } from '#shared/ports/ports.ts';
import {
  conversationIdFromPath,
  earlierThan,
  forEachItem,
  readConversations,
  timeAt,
  type Sweep,
} from './sweep-pass.ts';
import { z } from 'zod';

/**
 * Takes a request off the conversation document with a record of the reason. Throws GuardLostError when the conversation
 * has moved on: then somebody is there to serve it.
 */
async function dropRequest(
  { store, logger }: Pick<WorkerDependencies, 'store' | 'logger'>,
  dropped: DroppedRequest,
): Promise<void> {
  const { conversationId, request, state, reason } = dropped;
  await store.commit(dropRequestWrites(dropped));
  logger.log('WARNING', 'compaction_request_dropped', {
    conversationId,
    requestId: request.requestId,
    status: state,
    reason,
  });
}

/**
 * Requests that one sweep publishes. More at once would only wait in the queue: the next one goes on behind them, five
 * minutes later. A request leaves the list when it is served, or given up after a day.
 */
const MOST_PUBLISHED = 10_000;
const PUBLISHED_AT_ONCE = 20;

/** The part of a sweep that looks through the requests of one kind. */
interface KindSweep extends Sweep {
  kind: CompactionRequest['kind'];
  /** The conversations of which an event was published, for either kind. */
  published: Set<string>;
}

interface Overdue {
  conversationId: string;
  conversation: Versioned<Conversation>;
  job: Versioned<CompactionJob> | undefined;
  request: CompactionRequest;
}

/**
 * The job, or undefined for one of a shape that nobody knows: that is the worker's to fail on. Throws
 * NewerDocumentError: the request stays until the release that wrote the job serves it.
 */
function readableJob(document: StoredDocument | undefined): Versioned<CompactionJob> | undefined {
  try {
    return document && decodeJob(document);
  } catch (error) {
    if (error instanceof NewerDocumentError) throw error;
    return undefined;
  }
}

async function publishOrDrop(sweep: KindSweep, overdue: Overdue): Promise<void> {
  const { dependencies, counts, published } = sweep;
  const { conversationId, conversation, job, request } = overdue;
  const now = dependencies.clock.now();
  const decision = decideOverdue({
    now,
    state: conversation.value.state,
    request,
    job: job?.value,
  });
  switch (decision.kind) {
    case 'wait':
      return;
    case 'drop':
      await dropRequest(dependencies, {
        ...overdue,
        job: job ?? 'unreadable',
        ...decision,
        // As the last turn left it: what cannot be served may be impossible to read.
        tokens: conversation.value.context.tokens,
        now,
      });
      counts.requestsDropped += 1;
      await passWorkerCrashPoint(dependencies, 'sweep-request-dropped');
      return;
    case 'publish': {
      // One event does for both requests of a conversation. Nothing is awaited between this check and the note below.
      if (published.has(conversationId) || published.size >= MOST_PUBLISHED) return;
      published.add(conversationId);
      const { requestId } = request;
      await dependencies.publisher.publish({
        topic: 'compaction',
        data: requestEvent({ conversationId, requestId }),
      });
      counts.requestsPublished += 1;
      await passWorkerCrashPoint(dependencies, 'sweep-published');
    }
  }
}

/** The queries for overdue requests, in their order: from where the last sweep ended, then those before that. */
function queriesFrom(place: Date | undefined, overdue: ReturnType<typeof earlierThan>) {
  if (!place) return [overdue];
  const { field } = overdue.orderBy;
  return [
    { ...overdue, where: [...overdue.where, { field, op: '>=', value: place } as const] },
    earlierThan(field, place),
  ];
}

async function sweepPage(sweep: KindSweep, page: readonly StoredDocument[]): Promise<void> {
  const { dependencies, kind } = sweep;
  const { store } = dependencies;
  const jobs = await store.get(
    page.map((conversation) => compactionJobPath(conversationIdFromPath(conversation))),
  );
  const items = page.map((conversation, i) => ({ document: conversation, job: jobs[i] }));
  const each = { pass: 'requests', items, atOnce: PUBLISHED_AT_ONCE };
  await forEachItem(sweep, each, async ({ document, job }) => {
    const conversation = decodeConversation(document);
    const request = requestOfKind(conversation.value, kind);
    if (!request) return;
    const conversationId = conversationIdFromPath(document);
    await publishOrDrop(sweep, { conversationId, conversation, job: readableJob(job), request });
  });
}

/** Looks through the requests of one kind. Resolves to where the next sweep is to begin; undefined: at the oldest. */
async function sweepKind(sweep: KindSweep, from: Date | undefined): Promise<Date | undefined> {
  const { dependencies, signal, kind, published } = sweep;
  const before = new Date(dependencies.clock.now().getTime() - REPUBLISH_AFTER_MS);
  const overdue = earlierThan(`compactionRequests.${kind}.since`, before);
  let reached = from;
  for (const query of queriesFrom(from, overdue))
    for await (const page of readConversations(sweep, query)) {
      await sweepPage(sweep, page);
      // The next sweep begins with this page again, of which some may not have been looked at.
      if (signal.aborted) return reached;
      const last = page.at(-1);
      reached = last && timeAt(last, overdue.orderBy.field);
      if (published.size >= MOST_PUBLISHED) return reached;
    }
  return signal.aborted ? reached : undefined;
}

/**
 * Publishes the requests again whose event was lost or whose worker died, and settles those that nobody will
 * serve. A person's requests come first, then the oldest. Where there are more than one sweep can publish, the next
 * one goes on behind them, so that what waits in the queue is not published again before the others.
 */
export async function sweepRequests(sweep: Sweep): Promise<void> {
  const { store } = sweep.dependencies;
  const published = new Set<string>();
  const places = await readRequestPlaces(store);
  const manual = await sweepKind({ ...sweep, kind: 'manual', published }, places.manual);
  const auto = await sweepKind({ ...sweep, kind: 'auto', published }, places.auto);
  await keepRequestPlaces(store, places, { manual, auto });
}

/** Where the next sweep begins with requests of each kind, by the time since when they wait; absent: at the oldest. */
interface RequestPlaces {
  manual?: Date | undefined;
  auto?: Date | undefined;
}

interface StoredPlaces extends RequestPlaces {
  /** Of the document; absent where there is none. */
  updateTime?: string;
}

/** A place that cannot be read is none: the sweep begins at the oldest. */
const place = z.date().optional().catch(undefined);
const placesSchema = z.object({ manual: place, auto: place });

/** The places as the last sweep left them. Throws StoreUnavailableError. */
async function readRequestPlaces(store: Pick<DocumentStore, 'get'>): Promise<StoredPlaces> {
  const [document] = await store.get([requestPlacesPath]);
  if (!document) return {};
  return { ...placesSchema.parse(document.fields), updateTime: document.updateTime };
}

const isSame = (a: Date | undefined, b: Date | undefined) => a?.getTime() === b?.getTime();

/**
 * Stores the places for the next sweep, where they are others. Of two sweeps at once either may win. Throws
 * StoreUnavailableError.
 */
async function keepRequestPlaces(
  store: Pick<DocumentStore, 'commit'>,
  { updateTime, ...before }: StoredPlaces,
  { manual, auto }: RequestPlaces,
): Promise<void> {
  if (isSame(before.manual, manual) && isSame(before.auto, auto)) return;
  const path = requestPlacesPath;
  const fields = { schemaVersion: 1, manual, auto };
  const remove = [...(manual ? [] : ['manual']), ...(auto ? [] : ['auto'])];
  const write: Write =
    updateTime === undefined
      ? { op: 'create', path, fields }
      : { op: 'update', path, fields, remove, guard: { updateTime } };
  try {
    await store.commit([write]);
  } catch (error) {
    if (!(error instanceof GuardLostError)) throw error;
  }
}
