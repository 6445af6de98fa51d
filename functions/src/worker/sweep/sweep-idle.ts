import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { publishCompactionRequested } from '#functions/events/publish-compaction-event.ts';
import { settleAll } from '#functions/lib/promises.ts';
import { requestEvent } from '#shared/compaction/event.ts';
import { IDLE_AFTER_MS, requestForIdle } from '#shared/compaction/trigger.ts';
import { sweepShards } from '#shared/conversation/decisions/sweep-shard.ts';
import { decodeConversation } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { GuardLostError } from '#shared/errors.ts';
import type { StoredDocument } from '#shared/ports/ports.ts';
import { conversationIdFromPath, forEachItem, readPages, type Sweep } from './sweep-pass.ts';

/**
 * How long after it became idle a conversation is looked at: by two sweeps, so that each is read twice and
 * not for ever. One that both miss is compacted at its threshold, as ever.
 */
const LOOKED_AT_MS = 10 * 60_000;

/** Conversations of one shard that one sweep looks at, those that are idle for longest first. */
const MOST_LOOKED_AT = 500;
const LOOKED_AT_ONCE = 2;

/** Notes the need in the conversation document as it was read, then tells the workers. */
async function askIfWorth(sweep: Sweep, document: StoredDocument): Promise<void> {
  const { store, publisher, logger, clock, randomness, config } = sweep.dependencies;
  const conversation = decodeConversation(document);
  const conversationId = conversationIdFromPath(document);
  const requestId = randomness.uuid();
  const policy = conversationPolicy(config, conversation.value);
  const request = requestForIdle({
    conversation: conversation.value,
    policy,
    requestId,
    now: clock.now(),
  });
  if (!request) return;
  try {
    await store.commit([
      {
        op: 'update',
        path: conversationPath(conversationId),
        fields: { 'compactionRequests.auto': { ...request } },
        guard: { updateTime: conversation.updateTime },
      },
    ]);
  } catch (error) {
    // Somebody uses it: it is not idle.
    if (error instanceof GuardLostError) return;
    throw error;
  }
  sweep.counts.idleRequested += 1;
  await publisher.publish({
    topic: 'compaction',
    data: requestEvent({ conversationId, requestId }),
  });
  await publishCompactionRequested(
    { publisher, logger },
    {
      conversationId,
      requestId,
      trigger: request.trigger,
      beforeTokens: conversation.value.context.tokens,
    },
  );
}

async function sweepShard(sweep: Sweep, shard: number): Promise<void> {
  const idleSinceMs = sweep.dependencies.clock.now().getTime() - IDLE_AFTER_MS;
  const field = 'updateTime';
  let lookedAt = 0;
  for await (const items of readPages(sweep, {
    where: [
      { field: 'sweepShard', op: '==', value: shard },
      { field, op: '>=', value: new Date(idleSinceMs - LOOKED_AT_MS) },
      { field, op: '<=', value: new Date(idleSinceMs) },
    ],
    orderBy: { field, direction: 'asc' },
  })) {
    await forEachItem(sweep, { pass: 'idle', items, atOnce: LOOKED_AT_ONCE }, (document) =>
      askIfWorth(sweep, document),
    );
    lookedAt += items.length;
    if (lookedAt >= MOST_LOOKED_AT) return;
  }
}

/**
 * Asks for the compaction of conversations that nobody has used for a quarter of an hour, where that pays
 * off (`needOfIdle`); only with IDLE_COMPACTION=on.
 */
export async function sweepIdle(sweep: Sweep): Promise<void> {
  if (sweep.dependencies.config.IDLE_COMPACTION !== 'on') return;
  await settleAll(sweepShards.map((shard) => sweepShard(sweep, shard)));
}
