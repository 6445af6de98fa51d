import { conversationPath, historyPath } from '#shared/conversation/documents/paths.ts';
import { remedies, type Breach, type Invariant, type StoredConversation } from './load.ts';

/** How long a request, an ended lease or an erasure may wait: three sweeps. */
export const OVERDUE_MS = 15 * 60_000;

const minutes = (ms: number) => `${Math.floor(ms / 60_000)} minutes`;

function missingHistories(stored: StoredConversation): Breach[] {
  const { conversationId, conversation, histories, unreadable } = stored;
  const { generation } = conversation;
  const present = new Set([...histories, ...unreadable].map(({ path }) => path));
  return Array.from({ length: generation }, (_, i) => historyPath(conversationId, i + 1))
    .filter((path) => !present.has(path))
    .map((path) => ({ path, is: `it is not there, the head is in generation ${generation}` }));
}

function overdueRequests({ conversationId, conversation, job, now }: StoredConversation): Breach[] {
  const isWorkedOn = job !== undefined && job.owner !== '' && job.leaseUntil > now;
  if (conversation.state !== 'live' || isWorkedOn) return [];
  const pausedUntil = job?.brake.pause?.until;
  const isPaused = pausedUntil !== undefined && pausedUntil > now;
  return (['auto', 'manual'] as const).flatMap((kind) => {
    const request = conversation.compactionRequests[kind];
    if (!request || (kind === 'auto' && isPaused)) return [];
    const ageMs = now.getTime() - request.since.getTime();
    const is = `the ${kind} request has waited for ${minutes(ageMs)}`;
    return ageMs > OVERDUE_MS ? [{ path: conversationPath(conversationId), is }] : [];
  });
}

function abandonedTurns({
  conversationId,
  conversation,
  turns,
  now,
}: StoredConversation): Breach[] {
  const { open, queue } = conversation;
  const openTurn = turns.find(({ turn }) => turn.seq === open?.seq)?.turn;
  const leases = [
    ...(open ? [{ what: `turn ${open.seq}`, until: (openTurn ?? open).leaseUntil }] : []),
    ...(queue ? [{ what: `queued turn ${queue.first}`, until: queue.leaseUntil }] : []),
  ];
  return leases.flatMap(({ what, until }) => {
    const overMs = now.getTime() - until.getTime();
    const is = `the lease of ${what} ended ${minutes(overMs)} ago`;
    return overMs > OVERDUE_MS ? [{ path: conversationPath(conversationId), is }] : [];
  });
}

/** Generations, and what waits for the worker. */
export const compactionInvariants = {
  'history-missing': {
    group: 'I3',
    shouldBe: 'a history for each generation from 1 to that of the head',
    remedy: remedies.restoreEarlier,
    breaches: missingHistories,
  },
  'history-beyond': {
    group: 'I3',
    shouldBe: 'no history after the generation of the head',
    remedy: 'delete it: while it is there no compaction, edit or restore can succeed',
    breaches: ({ conversation: { generation }, histories }) =>
      histories
        .filter(({ history }) => history.generation > generation)
        .map(({ path }) => ({ path, is: `the head is in generation ${generation}` })),
  },
  'history-misplaced': {
    group: 'I3',
    shouldBe: 'each history under the id that its generation gives',
    remedy: remedies.restoreEarlier,
    breaches: ({ conversationId, histories }) =>
      histories
        .filter(({ path, history }) => path !== historyPath(conversationId, history.generation))
        .map(({ path, history }) => ({
          path,
          is: `it says that it is generation ${history.generation}`,
        })),
  },
  'history-parent': {
    group: 'I3',
    shouldBe: 'the parent of a history is the generation before it',
    remedy: remedies.restoreEarlier,
    breaches: ({ histories }) =>
      histories
        .filter(({ history }) => history.parent !== history.generation - 1)
        .map(({ path, history }) => ({ path, is: `its parent is ${history.parent}` })),
  },
  'history-empty': {
    group: 'I3',
    shouldBe: 'a snapshot in every history that folds turns and was not emptied by an erasure',
    remedy: remedies.restoreEarlier,
    breaches: ({ histories }) =>
      histories
        .filter(
          ({ history: { state, coveredThrough } }) =>
            state === 'COMPACTED' && coveredThrough.seq > 0,
        )
        .filter(({ history: { erased, snapshotText } }) => erased !== true && snapshotText === '')
        .map(({ path }) => ({ path, is: 'it folds turns and says nothing' })),
  },
  'request-overdue': {
    group: 'I6',
    shouldBe: 'a request is served or settled within minutes',
    remedy: '`dead-letters`, then `compact ID`; look for `sweep_failed` in the log',
    breaches: overdueRequests,
  },
  'turn-abandoned': {
    group: 'I6',
    shouldBe: 'no turn is open long after its lease has ended',
    remedy: remedies.bySweep,
    breaches: abandonedTurns,
  },
} as const satisfies Record<string, Invariant>;
