import {
  answered,
  collect,
  edit,
  queued,
  request,
  shownTexts,
  threeTurns,
} from '../support/chat/sending.ts';
import {
  compactionBench,
  autoRequest,
  buildDue,
  manualRequest,
  neverAborted,
} from '../support/compaction/compacted-conversation.ts';
import { createFirestoreDocumentStore } from '#functions/adapters/firestore.ts';
import {
  deleteConversation,
  undeleteConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { eraseConversation } from '#functions/erasure/erase-conversation.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { chunkPath, conversationPath, turnPath } from '#shared/conversation/documents/paths.ts';
import {
  demoProjectId,
  firestoreEmulatorHost,
} from '#test/support/processes/emulator-environment.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { owner } from '../support/chat/lifecycle.ts';
import { idsOf, openStream, steeredChat } from '../support/chat/streaming.ts';
import { buildConversation } from '../support/compaction/conversation-builder.ts';
import { raceTests } from '../usecases/quota/race.suite.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

/** A database of its own. */
function openDatabase() {
  firestoreEmulatorHost();
  return createFirestoreDocumentStore({
    projectId: demoProjectId(),
    databaseId: '(default)',
    deadlineMs: 20_000,
  });
}

const store = openDatabase();

describe('contract 8: on the database, twenty sends at once', () => {
  test('twenty sends of one message id on the database are one turn and one model call', async () => {
    const conversationId = randomUUID();
    const send = request(conversationId, 'Hello there');
    const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
    const chat = chatDependencies({ store, model });

    const handles = await Promise.all(Array.from({ length: 20 }, () => sendMessage(chat, send)));
    const results = await Promise.all(handles.map(({ result }) => result));

    expect(new Set(results.map(({ turn }) => JSON.stringify(turn.contents))).size).toBe(1);
    expect((await readConversation(store, conversationId))?.value.lastSeq).toBe(1);
    expect(requests.map(({ promptId }) => promptId)).toEqual(['t_1']);
  });

  test('twenty messages sent at once on the database are all answered, in the order of seq', async () => {
    const conversationId = randomUUID();
    const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
    const chat = chatDependencies({ store, model });

    const turns = await Promise.all(
      Array.from({ length: 20 }, (_, i) => answered(chat, queued(conversationId, `m${i}`))),
    );

    const seqs = turns.map(({ seq }) => seq).toSorted((a, b) => a - b);
    expect(seqs).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect(turns.every(({ state }) => state === 'done')).toBe(true);
    expect(requests.map(({ promptId }) => promptId)).toEqual(seqs.map((seq) => `t_${seq}`));
    expect((await readConversation(store, conversationId))?.value.queue).toBeUndefined();
  }, 60_000);

  raceTests(() => store);
});

test('a stream of one instance is followed live by another one with the same frames', async () => {
  const conversationId = randomUUID();
  const { dependencies, call } = steeredChat({ store });
  const handle = await sendMessage(dependencies, request(conversationId, 'Tell me.'));
  const all = collect(handle.frames());
  const model = await call();
  model.say('One ');
  const other = chatDependencies({ store });

  const frames = await openStream(other, { conversationId, cursor: 0 });
  const iterator = frames[Symbol.asyncIterator]();
  const early = [await iterator.next(), await iterator.next()];
  model.say('x'.repeat(3_000));
  model.say(' 안녕 👩‍👩‍👧');
  model.end();
  const late = await collect({ [Symbol.asyncIterator]: () => iterator });

  const read = [...early.map(({ value }) => value), ...late];
  expect(read).toEqual((await all).slice(1));
  const cursor = idsOf(await all).at(-3);
  expect(await collect(await openStream(other, { conversationId, cursor }))).toEqual(
    (await all).slice(-2),
  );
});

test('a conversation on the database is edited, forked, binned, taken out again and cleared of a message', async () => {
  const { model } = scriptedStreamer(textAnswer('Fine.'));
  const { id, dependencies, messageIds } = await threeTurns(chatDependencies({ store, model }));
  const [first = '', second = ''] = messageIds;
  const target = { caller: owner, conversationId: id };

  await answered(dependencies, edit(id, second, 'two, corrected'));
  const { conversationId: forkId } = await forkConversation(dependencies, {
    ...target,
    messageId: 'm_4',
  });
  await deleteConversation(dependencies, target);
  await undeleteConversation(dependencies, target);
  await deleteMessage(dependencies, { ...target, messageId: first });

  const edited = ['two, corrected', 'Fine.'];
  expect(await shownTexts(dependencies, id)).toEqual(edited);
  expect(await shownTexts(dependencies, forkId)).toEqual(['one', 'Fine.', ...edited]);
});

test('an erased user leaves only tombstones in the database', async () => {
  const chat = chatDependencies({ store });
  const caller = { uid: randomUUID(), tier: 'signedIn' } as const;
  // The first turn has overflow pieces and a chunk of its stream.
  const turns = [{ user: 'secret words '.repeat(60_000) }, {}, {}];
  const conversation = { ownerUid: caller.uid };
  const { conversationId } = await buildConversation(store, { turns, conversation });
  const chunk = chunkPath({ conversationId, seq: 1, attempt: 1 }, { lastId: 1, producer: 'p' });
  await store.commit([{ op: 'create', path: chunk, fields: { text: 'secret words' } }]);

  const result = await eraseUser(chat, { caller });
  await eraseConversation(chat, conversationId, neverAborted());

  expect(result).toEqual({ conversations: 1 });
  const below = [turnPath(conversationId, 1), turnPath(conversationId, 3), chunk];
  const [left, ...gone] = await store.get([conversationPath(conversationId), ...below]);
  expect(gone).toEqual([undefined, undefined, undefined]);
  expect(left?.fields).toMatchObject({ state: 'erased', ownerUid: '' });
  expect(JSON.stringify(left)).not.toContain(caller.uid);
  expect(await store.deleteBelow(conversationPath(conversationId))).toBe(0);
});

test('a sweep publishes requests of both kinds, settles those of deleted conversations and erases what expired', async () => {
  const past = new Date('2026-01-02T00:00:00.000Z');
  const clock = createManualClock(new Date('2026-01-02T03:06:05.000Z'));
  const bench = compactionBench({ store: openDatabase(), clock });
  const due = { compactionRequests: autoRequest() };
  await Promise.all(
    Array.from({ length: 102 }, () =>
      buildConversation(bench.store, { turns: 0, conversation: due }),
    ),
  );
  await buildDue(bench, { turns: 1, conversation: { compactionRequests: manualRequest() } });
  const deleted = await buildDue(bench, { turns: 1, conversation: { state: 'deleted' } });
  const over: Partial<Conversation>[] = [
    { expireTime: past },
    { state: 'deleted', purgeTime: past },
    { state: 'forking', createTime: past },
    { state: 'erasing' },
  ];
  const built = await Promise.all(
    over.map((conversation) => buildConversation(bench.store, { turns: 1, conversation })),
  );

  const counts = await runSweep(bench, neverAborted());

  expect(counts).toMatchObject({ requestsPublished: 103, conversationsErased: 4, failed: 0 });
  expect((await readConversation(bench.store, deleted))?.value.compactionRequests).toEqual({});
  for (const { conversationId } of built) {
    expect((await readConversation(bench.store, conversationId))?.value.state).toBe('erased');
    expect(await bench.store.deleteBelow(conversationPath(conversationId))).toBe(0);
  }
});
