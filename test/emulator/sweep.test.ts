import { describe, expect, test } from 'vitest';
import { createFirestoreDocumentStore } from '#functions/adapters/firestore/firestore-document-store.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { readConversation, readTurns } from '#shared/conversation/context/read-conversation.ts';
import { newTurnWrites, startWrites } from '#shared/conversation/writes/turn-writes.ts';
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
import { buildConversation, userText } from '../support/compaction/conversation-builder.ts';
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

const newTurn = (conversationId: string, seq: number) => ({
  conversationId,
  messageId: `message-${seq}`,
  bodyHash: 'built',
  seq,
  user: userText('Are you there?'),
  userTokens: 4,
  lease: { producer: 'gone', leaseUntil: past },
  now: past,
});

describe('on the database, a sweep', () => {
  test('a sweep on the database closes an abandoned turn and the messages behind it', async () => {
    const bench = databaseBench();
    const { store } = bench;
    const { conversationId } = await buildConversation(store, { turns: 2 });
    const conversation = await readConversation(store, conversationId);
    if (!conversation) throw new Error('no head');
    await store.commit(startWrites({ ...newTurn(conversationId, 3), conversation }));
    await store.commit([
      {
        op: 'update',
        path: conversationPath(conversationId),
        fields: { lastSeq: 4, queue: { first: 4, leaseUntil: past } },
        guard: { exists: true },
      },
      ...newTurnWrites(newTurn(conversationId, 4), 'queued'),
    ]);

    const counts = await sweep(bench);

    const after = (await readConversation(store, conversationId))?.value;
    const turns = await readTurns(store, conversationId, [3, 4]);
    expect(counts).toMatchObject({ turnsClosed: 2, failed: 0 });
    expect(turns.map(({ value }) => value.state)).toEqual(['failed', 'failed']);
    expect([after?.open, after?.queue]).toEqual([undefined, undefined]);
  });

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

  test('a sweep finishes the erasure of a turn and drops tombstones when they expire', async () => {
    const bench = databaseBench();
    const pendingErasure = { since: past, seqs: [1] };
    const id = await buildDue(bench, {
      turns: 1,
      conversation: { pendingErasure, compactionRequests: {} },
    });
    const gone = await buildDue(bench, { turns: 1, conversation: { state: 'erasing' } });

    const first = await sweep(bench);
    bench.clock.advance(31 * 24 * 60 * 60_000);
    const second = await sweep(bench);

    expect(first).toMatchObject({ erasuresFinished: 1, conversationsErased: 1, failed: 0 });
    expect(second).toMatchObject({ tombstonesDropped: 1, failed: 0 });
    expect((await readConversation(bench.store, id))?.value.pendingErasure).toBeUndefined();
    expect(await readConversation(bench.store, gone)).toBeUndefined();
  });
});
