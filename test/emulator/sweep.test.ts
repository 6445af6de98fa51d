import { describe, expect, test } from 'vitest';
import { createFirestoreDocumentStore } from '#functions/adapters/firestore/firestore-document-store.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import {
  autoRequest,
  buildDue,
  manualRequest,
  neverAborted,
} from '../support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '../support/compaction/compaction-dependencies.ts';
import { buildConversation } from '../support/compaction/conversation-builder.ts';
import { demoProjectId, firestoreEmulatorHost } from '../support/processes/emulator-environment.ts';

/** A worker over a database of its own: a sweep looks at all conversations. */
function databaseBench(): CompactionBench {
  firestoreEmulatorHost();
  return compactionBench({
    store: createFirestoreDocumentStore({
      projectId: demoProjectId(),
      databaseId: '(default)',
      deadlineMs: 20_000,
    }),
    clock: createManualClock(new Date('2026-01-02T03:06:05.000Z')),
  });
}

const sweep = (bench: CompactionBench) => runSweep(bench, neverAborted());
const past = new Date('2026-01-02T00:00:00.000Z');

describe('on the database, a sweep', () => {
  test('a sweep publishes compaction requests of both kinds and settles those of deleted conversations', async () => {
    const bench = databaseBench();
    const due = { compactionRequests: autoRequest() };
    await Promise.all(
      Array.from({ length: 102 }, () =>
        buildConversation(bench.store, { turns: 0, conversation: due }),
      ),
    );
    await buildDue(bench, { turns: 1, conversation: { compactionRequests: manualRequest() } });
    const deleted = await buildDue(bench, { turns: 1, conversation: { state: 'deleted' } });

    const counts = await sweep(bench);

    expect(counts).toMatchObject({ requestsPublished: 103, requestsDropped: 1, failed: 0 });
    expect((await readConversation(bench.store, deleted))?.value.compactionRequests).toEqual({});
  });

  test('a sweep erases expired conversations, those deleted long ago and unfinished forks', async () => {
    const bench = databaseBench();
    const ids = await Promise.all([
      buildDue(bench, { turns: 1, conversation: { expireTime: past } }),
      buildDue(bench, { turns: 1, conversation: { state: 'deleted', purgeTime: past } }),
      buildDue(bench, { turns: 1, conversation: { state: 'forking', createTime: past } }),
      buildDue(bench, { turns: 1, conversation: { state: 'erasing' } }),
    ]);

    const counts = await sweep(bench);

    expect(counts).toMatchObject({ conversationsErased: 4, failed: 0 });
    for (const id of ids) {
      expect((await readConversation(bench.store, id))?.value.state).toBe('erased');
      expect(await bench.store.deleteBelow(conversationPath(id))).toBe(0);
    }
  });
});
