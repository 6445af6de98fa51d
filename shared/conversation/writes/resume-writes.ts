import type { Write } from '#shared/ports/ports.ts';
import type { Conversation, Versioned } from '../documents/conversation.ts';
import { conversationPath, turnPath } from '../documents/paths.ts';
import { encodeAnswer } from '../documents/encode-turn.ts';
import type { KeptRounds, Lease } from './turn-writes.ts';

/** The same attempt goes on under a new producer: the app has answered all that the turn waited for. */
export function resumeWrites(batch: {
  conversationId: string;
  seq: number;
  attempt: number;
  lease: Lease;
  now: Date;
  conversation: Versioned<Conversation>;
  turnUpdateTime: string;
  kept: KeptRounds;
  /** The model that goes on: another than before where that one is retired. Absent: none was noted. */
  model: string | undefined;
  /** Pieces of the answer as it was stored before. */
  obsolete: readonly string[];
}): Write[] {
  const { conversationId, seq, lease, now, conversation, kept, model } = batch;
  const answer = encodeAnswer({ ...batch, step: kept.rounds.step }, kept.contents);
  return [
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { open: { seq, leaseUntil: lease.leaseUntil }, updateTime: now },
      guard: { updateTime: conversation.updateTime },
    },
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields: {
        state: 'running',
        ...lease,
        ...(model !== undefined && { model }),
        rounds: { ...kept.rounds },
        ...answer.fields,
      },
      // Where its stream ends is open again.
      remove: ['lastFrameId'],
      guard: { updateTime: batch.turnUpdateTime },
    },
    ...answer.writes,
    ...batch.obsolete.map((path) => ({ op: 'delete' as const, path })),
  ];
}
