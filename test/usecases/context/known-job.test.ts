import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createMemoryCache } from '#functions/adapters/memory-cache.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { decodeConversation } from '#shared/conversation/documents/conversation.ts';
import { decodeJob } from '#shared/conversation/documents/job.ts';
import { dropRequestWrites } from '#shared/conversation/writes/drop-request-writes.ts';
import { compactionJobPath, conversationPath } from '#shared/conversation/documents/paths.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { request, sendAll } from '#test/support/chat/sending.ts';

/** An instance of chat, and the paths that it has read since they were asked for. */
function instance(store = createMemoryDocumentStore()) {
  const asked: string[] = [];
  const dependencies = chatDependencies({
    store: {
      ...store,
      get: (paths) => {
        asked.push(...paths);
        return store.get(paths);
      },
    },
    cache: createMemoryCache({ maxBytes: 1_000_000 }),
    clock: createManualClock(),
    model: scriptedStreamer(...Array.from({ length: 6 }, () => textAnswer('Yes.'))).model,
  });
  return { store, dependencies, readSince: () => asked.splice(0) };
}

type Instance = ReturnType<typeof instance>;

/** A need of the conversation comes, and is taken off again with a record of the reason. */
async function comeAndGo({ store }: Instance, conversationId: string, reason: string) {
  const [conversationDocument] = await store.get([conversationPath(conversationId)]);
  if (!conversationDocument) throw new Error('no head');
  const since = new Date(0);
  const requestId = randomUUID();
  await store.commit([
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { 'compactionRequests.auto': { requestId, since, trigger: 'auto' } },
      guard: { updateTime: conversationDocument.updateTime },
    },
  ]);
  const [waiting, job] = await store.get([
    conversationPath(conversationId),
    compactionJobPath(conversationId),
  ]);
  if (!waiting) throw new Error('no head');
  await store.commit(
    dropRequestWrites(
      {
        conversationId,
        conversation: decodeConversation(waiting),
        job: job ? decodeJob(job) : 'missing',
        request: { kind: 'auto', requestId, since, trigger: 'auto' },
        state: 'NOOP',
        reason,
        tokens: 0,
        now: new Date(1),
      },
      { frees: true },
    ),
  );
}

const shownReason = async ({ dependencies }: Instance, conversationId: string) => {
  const handle = await sendMessage(dependencies, request(conversationId, 'And now?'));
  return (await handle.result).context.compaction?.reason;
};

describe('the job of compactions', () => {
  test('an instance does not re-read an idle compaction job', async () => {
    const conversationId = randomUUID();
    const warm = instance();
    await sendAll(warm.dependencies, conversationId, ['One.', 'Two.']);
    warm.readSince();

    await sendAll(warm.dependencies, conversationId, ['Three.']);

    expect(warm.readSince()).not.toContain(compactionJobPath(conversationId));
  });

  test('a compaction job is current after each request seen by another instance', async () => {
    const conversationId = randomUUID();
    const warm = instance();
    await sendAll(warm.dependencies, conversationId, ['One.', 'Two.']);

    const shown: unknown[] = [];
    for (const reason of ['BELOW_THRESHOLD', 'NOT_ARMED']) {
      await comeAndGo(warm, conversationId, reason);
      shown.push(await shownReason(warm, conversationId));
      shown.push(await shownReason(warm, conversationId));
    }

    expect(shown).toEqual(['BELOW_THRESHOLD', 'BELOW_THRESHOLD', 'NOT_ARMED', 'NOT_ARMED']);
  });
});
