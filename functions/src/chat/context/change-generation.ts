import type { ChatDependencies } from '../chat-dependencies.ts';
import {
  readOwnConversation,
  type OwnConversation,
  type OwnTarget,
} from '../conversations/own-conversation.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { retry, waitAfterLost } from '#functions/lib/retry.ts';
import { requestForChangedContext } from '#shared/compaction/trigger.ts';
import type {
  Conversation,
  CompactionRequests,
} from '#shared/conversation/documents/conversation.ts';
import {
  decodeHistory,
  historyWrite,
  type History,
} from '#shared/conversation/documents/history.ts';
import { RECORDS_KEPT, type CompactionRecord } from '#shared/conversation/documents/job.ts';
import {
  compactionJobPath,
  conversationPath,
  historyPath,
} from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { generationFields } from '#shared/conversation/writes/next-generation.ts';
import { GuardLostError, StoreUnavailableError } from '#shared/lib/errors.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import { contextStatusWrite } from './view-context.ts';

/** A change reads again at most this often when others win the conversation document's guard. */
const CHANGE_TRIES = 25;
/** A store that does not answer is asked again this often; then the caller is told to come back. */
const OUTAGE_TRIES = 3;

/** A generation that no compaction makes. */
export interface NewGeneration<T> {
  history: History;
  /** The conversation document as the batch leaves it, for the status document. */
  conversationAfter: Conversation;
  /** The turns behind it. */
  turns: readonly Turn[];
  fields: DocumentFields;
  remove?: readonly string[];
  /** Writes beside conversation and history that the conversation document's guard covers. */
  writes?: readonly Write[];
  /** Told in the job, and so in the context object, where a compaction's outcome stands else. */
  record?: CompactionRecord;
  result: T;
}

/** What to do with a conversation: take a generation, or nothing. */
export type Decision<T> = NewGeneration<T> | { result: T };

type ChangeDependencies = Pick<
  ChatDependencies,
  'store' | 'clock' | 'randomness' | 'config' | 'sha256'
>;

/**
 * Takes the lease from a worker in flight: what it makes can never be swapped in, and its next write
 * would tell the owner's devices of a generation that is past.
 */
function jobWrites(own: OwnConversation, record: CompactionRecord | undefined, now: Date): Write[] {
  const { conversationId, job, jobUpdateTime } = own;
  if (!job || jobUpdateTime === undefined) return [];
  const records = record && [...job.records, record].slice(-RECORDS_KEPT);
  return [
    {
      op: 'update',
      path: compactionJobPath(conversationId),
      fields: {
        owner: '',
        leaseUntil: now,
        fence: job.fence + 1,
        step: '',
        ...(records && { records: records.map((each) => ({ ...each })) }),
      },
      guard: { updateTime: jobUpdateTime },
    },
  ];
}

/** Tells the owner's devices what the context is now. */
function ownersStatus<T>(
  dependencies: ChangeDependencies,
  own: OwnConversation,
  change: NewGeneration<T>,
): Promise<Write> {
  const { conversationAfter: conversation, history, turns, record } = change;
  const job = own.job && {
    ...own.job,
    owner: '',
    records: record ? [...own.job.records, record] : own.job.records,
  };
  const view = { conversation, history, turns, job };
  return contextStatusWrite(dependencies, own.conversationId, view);
}

async function commitGeneration<T>(
  dependencies: ChangeDependencies,
  own: OwnConversation,
  change: NewGeneration<T>,
): Promise<void> {
  const { conversationId, conversation } = own;
  const { history, fields, remove, writes = [], record } = change;
  const now = dependencies.clock.now();
  await dependencies.store.commit([
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { ...generationFields(history), updateTime: now, ...fields },
      ...(remove && { remove }),
      guard: { updateTime: conversation.updateTime },
    },
    historyWrite(conversationId, history),
    ...jobWrites(own, record, now),
    ...writes,
    await ownersStatus(dependencies, own, change),
  ]);
}

/** Whether a generation was made by this very request, in a try whose reply was lost. */
async function isMadeByThis(
  { store }: ChangeDependencies,
  made: { conversationId: string; generation: number; by: string },
): Promise<boolean> {
  const [document] = await store.get([historyPath(made.conversationId, made.generation)]);
  return document !== undefined && decodeHistory(document).by === made.by;
}

/**
 * Changes a caller's own conversation in a way that takes the next generation, in one batch with the conversation
 * document under its update time: a worker in flight loses. Who loses the guard reads and decides again; a batch whose
 * reply was lost is found by its nonce `by`, which `decide` writes into the history. Throws NOT_FOUND, what `decide`
 * throws, GuardLostError, StoreUnavailableError.
 */
export async function changeGeneration<T>(
  dependencies: ChangeDependencies,
  target: OwnTarget,
  decide: (own: OwnConversation, by: string) => Promise<Decision<T>>,
): Promise<T> {
  const { conversationId } = target;
  const by = dependencies.randomness.uuid();
  let tried: { generation: number; result: T } | undefined;
  let outages = 0;
  const attempt = async () => {
    if (tried && (await isMadeByThis(dependencies, { conversationId, by, ...tried })))
      return tried.result;
    const own = await readOwnConversation(dependencies, target);
    const change = await decide(own, by);
    if (!('history' in change)) return change.result;
    tried = { generation: change.history.generation, result: change.result };
    await commitGeneration(dependencies, own, change);
    return change.result;
  };
  return retry(attempt, {
    mostTries: CHANGE_TRIES,
    isRetryable: (error) =>
      error instanceof StoreUnavailableError
        ? ++outages < OUTAGE_TRIES
        : error instanceof GuardLostError,
    beforeNext: (tries) => waitAfterLost(dependencies.clock, tries),
  });
}

/** The compaction that a context asks for after a person changed it, or undefined (`requestForChangedContext`). */
export function requestAfterChange(
  { config, clock, randomness }: Pick<ChatDependencies, 'config' | 'clock' | 'randomness'>,
  after: { conversation: Conversation; history: History | undefined; tokens: number },
): CompactionRequests['auto'] {
  return requestForChangedContext({
    ...after,
    policy: conversationPolicy(config, after.conversation),
    requestId: randomness.uuid(),
    now: clock.now(),
  });
}
