import type { CompactionPolicy } from '#shared/compaction/policy.ts';
import { compactionNeed } from '#shared/compaction/trigger.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { finding, findingWhen, type Finding } from './finding.ts';
import { conversationOfPath, type Loaded } from './load/loaded.ts';

/** Three sweeps. */
export const OVERDUE_MS = 15 * 60_000;

type Waiting = Pick<Loaded, 'conversationId' | 'now' | 'job' | 'turns'> & {
  conversation: Pick<Conversation, 'state' | 'compactionNeeded' | 'open' | 'queue'>;
  /** How long a need or an ended lease may wait. */
  overdueMs?: number;
};

const minutes = (ms: number) => `${Math.floor(ms / 60_000)} minutes`;

/** I6: a need is served or settled, and no turn stays open that nobody answers. */
export function checkWaiting(waiting: Waiting): Finding[] {
  const { now, conversation, job, turns, overdueMs = OVERDUE_MS } = waiting;
  const path = conversationOfPath(waiting);
  const ageMs = (since: Date) => now.getTime() - since.getTime();
  const isWorkedOn = job !== undefined && job.owner !== '' && job.leaseUntil > now;
  const pausesUntil = [job?.retryAt, job?.breakerOpenUntil].some((until) => until && until > now);
  const needs = (['auto', 'manual'] as const).flatMap((kind) => {
    const need = conversation.compactionNeeded[kind];
    return need ? [{ kind, since: need.since }] : [];
  });
  const open = turns.find(({ fields }) => fields.seq === conversation.open?.seq);
  const leases = [
    ...(conversation.open && (!open || ageMs(open.fields.leaseUntil) > overdueMs)
      ? [
          {
            what: `turn ${conversation.open.seq}`,
            until: open?.fields.leaseUntil ?? conversation.open.leaseUntil,
          },
        ]
      : []),
    ...(conversation.queue
      ? [{ what: `queued turn ${conversation.queue.first}`, until: conversation.queue.leaseUntil }]
      : []),
  ];
  return [
    ...needs
      .filter(({ kind, since }) => {
        const isPaused = kind === 'auto' && pausesUntil;
        return (
          conversation.state === 'live' && ageMs(since) > overdueMs && !isWorkedOn && !isPaused
        );
      })
      .map(({ kind, since }) =>
        finding('need-overdue', path, `the ${kind} need has waited for ${minutes(ageMs(since))}`),
      ),
    ...leases
      .filter(({ until }) => ageMs(until) > overdueMs)
      .map(({ what, until }) =>
        finding('turn-abandoned', path, `the lease of ${what} ended ${minutes(ageMs(until))} ago`),
      ),
  ];
}

/**
 * I6: a threshold that was crossed without a need, a record or a generation. The last turn must have been
 * finished in peace: then either it noted a need, and the job tells what became of it, or there was none.
 */
export function checkCrossing(
  target: Pick<Loaded, 'conversationId' | 'job' | 'turns'> & {
    conversation: Conversation;
    history: History | undefined;
    policy: CompactionPolicy;
  },
): Finding[] {
  const { conversation, history, job, turns, policy } = target;
  const last = turns.findLast(({ fields }) => fields.seq === conversation.lastSeq)?.fields;
  if (!last?.inContext || last.state !== 'done' || conversation.context.seq !== last.seq) return [];
  const { declined, auto, manual } = conversation.compactionNeeded;
  const need = compactionNeed({
    conversation: { settings: conversation.settings, compactionNeeded: { declined } },
    history,
    meter: conversation.context,
    isOverflow: false,
    policy,
    requestId: '',
    now: last.createTime,
  });
  const isServed = (job?.records ?? []).some(({ finishedAt }) => finishedAt >= last.createTime);
  const isAsked = auto !== undefined || manual !== undefined || isServed;
  return findingWhen(
    need !== undefined && !isAsked && conversation.generation === conversation.context.generation,
    'crossing-forgotten',
    conversationOfPath(target),
    `${conversation.context.tokens} tokens crossed the threshold and nothing came of it`,
  );
}
