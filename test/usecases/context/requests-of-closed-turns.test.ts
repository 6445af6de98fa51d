import { expect, test } from 'vitest';
import { systemClock } from '#functions/adapters/clocks.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { conversationPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { DocumentStore, Write } from '#shared/ports/ports.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { answered, cancel, request } from '#test/support/chat/sending.ts';
import { neverAborted, compactionBench } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';
import { appTool, MODEL, say, toolChat } from '#test/support/tools/tool-world.ts';

const { model } = await startModelServer();

/** Two turns of about 130 tokens are below it, a third one of about 300 is not. */
const THRESHOLD_TOKENS = 400;
const WAITING_SEQ = 3;
const TIMEOUT_MS = 60_000;
const question = 'Where is the old harbour? '.repeat(20);
const ASKING = `call locate {"question":"${question}"}`;

/** The embedded store, and the batches that were applied to it. */
function recordingStore(): { store: DocumentStore; batches: (readonly Write[])[] } {
  const inner = createMemoryDocumentStore();
  const batches: (readonly Write[])[] = [];
  const commit: DocumentStore['commit'] = async (writes) => {
    const times = await inner.commit(writes);
    batches.push(writes);
    return times;
  };
  return { store: { ...inner, commit }, batches };
}

/** A turn that waits for the app; what it asked for was settled, because what stands before it is not due. */
async function waiting({ thresholdTokens = THRESHOLD_TOKENS } = {}) {
  const { store, batches } = recordingStore();
  let aheadMs = 0;
  const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
  const environment = { TOOL_RESULT_TIMEOUT_MS: String(TIMEOUT_MS) };
  const { chat } = toolChat(model, { environment, overrides: { store, clock } });
  const { conversationId } = await buildConversation(store, {
    turns: WAITING_SEQ - 1,
    conversation: {
      model: MODEL,
      settings: { thresholdTokens },
      toolsJson: JSON.stringify([appTool('locate')]),
    },
  });
  const sent = request(conversationId, ASKING);
  await answered(chat, sent);
  const worker = () => compactionBench({ store, clock: createManualClock(clock.now()) });
  await runCompaction(worker(), { conversationId, signal: neverAborted() });
  return {
    chat,
    worker,
    conversationId,
    sent,
    expire: () => (aheadMs += TIMEOUT_MS + 1),
    isNeeded: async () =>
      (await readConversation(store, conversationId))?.value.compactionRequests.auto !== undefined,
    /** What the batch that ended the turn says of the conversation document. */
    conversationAtEnd: () => {
      const closing = batches.find((writes) =>
        writes.some(
          ({ path, ...write }) =>
            path === turnPath(conversationId, WAITING_SEQ) &&
            'fields' in write &&
            write.fields['state'] === 'cancelled',
        ),
      );
      const conversation = closing?.find(({ path }) => path === conversationPath(conversationId));
      return conversation && 'fields' in conversation ? conversation.fields : undefined;
    },
  };
}

type Stage = Awaited<ReturnType<typeof waiting>>;

const need = { 'compactionRequests.auto': { trigger: 'auto' } };

test.each<{ ending: string; end: (stage: Stage) => Promise<unknown> }>([
  {
    ending: 'expires and is swept',
    end: (stage) => {
      stage.expire();
      return runSweep(stage.worker(), neverAborted());
    },
  },
  {
    ending: 'is cancelled',
    end: ({ chat, conversationId }) => cancel(chat, conversationId, WAITING_SEQ),
  },
  {
    ending: 'has expired when its message is sent again',
    end: async ({ chat, sent, expire }) => {
      expire();
      await answered(chat, sent);
    },
  },
  {
    ending: 'is overtaken by a new message',
    end: ({ chat, conversationId }) => say(chat, conversationId, 'Never mind.'),
  },
])(
  'a waiting turn over the threshold stores a request with its end when it $ending',
  async ({ end }) => {
    const stage = await waiting();

    await end(stage);

    expect(stage.conversationAtEnd()).toMatchObject(need);
    expect(await stage.isNeeded()).toBe(true);
  },
);

test('cancelling a waiting turn over the threshold requests a compaction at once', async () => {
  const { chat, conversationId } = await waiting();
  chat.published.length = 0;

  await cancel(chat, conversationId, WAITING_SEQ);

  expect(chat.published).toMatchObject([{ topic: 'compaction', data: { conversationId } }]);
});
