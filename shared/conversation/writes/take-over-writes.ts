import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import { closeAbandonedWrites, type AbandonedTurn } from './end-abandoned.ts';
import type { Conversation, Versioned } from '../documents/conversation.ts';
import { conversationPath, turnPath } from '../documents/paths.ts';
import { encodeAnswer } from '../documents/encode-turn.ts';
import type { Turn } from '../documents/turn.ts';
import { answerNone, type KeptRounds, type Lease } from './turn-writes.ts';

/** What becomes of the answer of an earlier attempt: its rounds stay, what it said after them goes. */
function answerAfterTakeOver(
  turn: { conversationId: string; seq: number; attempt: number },
  kept: KeptRounds | undefined,
): { fields: DocumentFields; writes: Write[]; stale: string[] } {
  if (!kept)
    return {
      fields: answerNone,
      writes: [],
      stale: ['usage', 'rounds', 'answerName', 'settled', 'grounding'],
    };
  const rounds = { ...kept.rounds, step: kept.rounds.step + 1, frames: [] };
  const { fields, writes } = encodeAnswer({ ...turn, step: rounds.step }, kept.contents);
  return { fields: { ...fields, rounds }, writes, stale: [] };
}

/** What the end of an attempt leaves in a turn. */
const endFields = [
  'error',
  'finishReason',
  'finishTime',
  'lastFrameId',
  'cancelRequested',
  'leftAt',
  'feedback',
  'unanswered',
];

/** The next attempt at the same turn: new producer, new lease, of the old answer nothing but whole rounds. */
export function takeOverWrites(batch: {
  conversationId: string;
  seq: number;
  attempt: number;
  lease: Lease;
  now: Date;
  conversation: Versioned<Conversation>;
  turnUpdateTime: string;
  model: string;
  routing: Turn['routing'];
  kept?: KeptRounds | undefined;
  /** Turns that nobody answers, where this one had ended; absent: it is the open one, and others may wait. */
  abandoned?: readonly AbandonedTurn[] | undefined;
  foldedInContext: boolean | undefined;
}): Write[] {
  const { conversationId, seq, attempt, lease, now, conversation, model, routing } = batch;
  const answer = answerAfterTakeOver(batch, batch.kept);
  const stale = [
    ...endFields,
    ...(batch.foldedInContext === undefined ? ['foldedInContext'] : []),
    ...(routing ? [] : ['routing']),
    ...answer.stale,
  ];
  return [
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { open: { seq, leaseUntil: lease.leaseUntil }, updateTime: now },
      // Whoever begins to answer a turn that had ended found nobody waiting.
      ...(batch.abandoned && { remove: ['queue'] }),
      guard: { updateTime: conversation.updateTime },
    },
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields: {
        state: 'running',
        attempt,
        ...lease,
        model,
        ...(routing && { routing: { ...routing } }),
        inContext: false,
        foldedInContext: batch.foldedInContext,
        ...answer.fields,
      },
      remove: stale,
      guard: { updateTime: batch.turnUpdateTime },
    },
    ...answer.writes,
    ...closeAbandonedWrites(conversationId, { abandoned: batch.abandoned ?? [], now }),
  ];
}
