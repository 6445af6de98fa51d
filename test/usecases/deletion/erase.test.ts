import {
  deleteConversation,
  eraseOwnConversation,
  undeleteConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { createConversation } from '#functions/chat/conversations/write-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { markErasing, eraseConversation } from '#functions/erasure/erase-conversation.ts';
import { compactionCrashPoints } from '#functions/lib/crash-points.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import {
  readConversation,
  readAnyConversation,
} from '#shared/conversation/context/read-conversation.ts';
import { usagePath, conversationPath } from '#shared/conversation/documents/paths.ts';
import { GuardLostError, StoreUnavailableError } from '#shared/lib/errors.ts';
import type { DocumentStore, Write } from '#shared/ports/ports.ts';
import { encodeUsage, noUsage } from '#shared/quota/usage.ts';
import { slowWrites, createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import {
  CANARY,
  compacted,
  lifecycle,
  owner,
  setConversation,
  type Lifecycle,
  erase,
  remainsOf,
  serveErasures,
} from '#test/support/chat/lifecycle.ts';
import { request } from '#test/support/chat/sending.ts';
import {
  pass,
  settle,
  steeredChat,
  stoppable,
  storedTurn,
  storedChunks,
} from '#test/support/chat/streaming.ts';
import {
  neverAborted,
  manualRequest,
  compactOnce,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

describe('S20, contract 12: erasing a user', () => {
  test('erasing a user leaves only tombstones, of conversations in every state', async () => {
    const world = lifecycle();
    const live = await compacted(world);
    const deleted = await compacted(world);
    await deleteConversation(world.chat, { caller: owner, conversationId: deleted });
    const forking = await compacted(world);
    await setConversation(world, forking, { state: 'forking' });
    const named = await compacted(world, {
      conversation: {
        title: CANARY,
        systemInstruction: CANARY,
        metadata: { note: CANARY },
        pins: [{ id: 'p', text: CANARY, source: 'api' }],
        forkedFrom: { conversationId: live, seq: 1 },
      },
    });

    const result = await erase(world);

    expect(result).toEqual({ conversations: 4 });
    expect(await remainsOf(world)).toEqual([]);
    const tombstone = await readConversation(world.store, named);
    expect(tombstone?.value.expireTime).toEqual(
      new Date(world.bench.clock.now().getTime() + 30 * 24 * 60 * 60_000),
    );
  });

  test('erasing a user leaves other people’s conversations alone', async () => {
    const world = lifecycle();
    await compacted(world, { conversation: { ownerUid: 'u2' } });
    const before = await world.documents();

    const result = await erase(world);

    expect(result).toEqual({ conversations: 0 });
    expect(await world.documents()).toEqual(before);
  });

  test('figures of earlier days are gone once the erasure of their user is answered', async () => {
    const world = lifecycle({}, compactionBench, slowWrites());
    const path = usagePath('u1', '2020-01-01');
    await world.store.commit([
      { op: 'create', path, fields: encodeUsage(noUsage, new Date('2020-01-01')) },
    ]);

    await erase(world);

    expect(await world.store.get([path])).toEqual([undefined]);
  });

  test('erasing a user reaches a fork that became whole before its source was marked', async () => {
    const world = lifecycle();
    const first = '00000000-0000-4000-8000-000000000000';
    // As many as are marked side by side.
    const middle = Array.from({ length: 10 }, (_, i) => `8888888${i}-0000-4000-8000-000000000000`);
    const source = 'ffffffff-0000-4000-8000-000000000000';
    for (const conversationId of [...middle, source])
      await buildConversation(world.store, { conversationId, turns: [{ user: CANARY }] });
    const target = { caller: owner, conversationId: source, messageId: 'm_1', id: first };
    let forked: Promise<unknown> | undefined;
    const chat = {
      ...world.chat,
      atCrashPoint: async (name: string) => {
        if (name === 'conversation-marked') await (forked ??= forkConversation(world.chat, target));
      },
    };

    const result = await eraseUser(chat, { caller: owner });
    await serveErasures(world);

    expect(result).toEqual({ conversations: 12 });
    expect(await remainsOf(world)).toEqual([]);
  });
});

test('an erased conversation’s id stays taken', async () => {
  const world = lifecycle();
  const conversationId = await compacted(world);
  await erase(world);
  const again = { caller: owner, id: conversationId, fields: {} };

  await expect(createConversation(world.chat, again)).rejects.toMatchObject({
    status: 'NOT_FOUND',
  });
});

test.each(['deleted', 'erased'])(
  'erasing an unmarked conversation does nothing when it is %s',
  async (state) => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await setConversation(world, conversationId, { state });
    const before = await world.documents();

    const result = await eraseConversation(world.bench, conversationId, neverAborted());

    expect(result).toBe('nothing');
    expect(await world.documents()).toEqual(before);
  },
);

/** Workers never come to the points of the sweep. */
const workerPoints = Object.keys(compactionCrashPoints).filter(
  (point) => !point.startsWith('sweep-'),
);

/** A worker that compacts while the user is erased at `point`. */
async function eraseAt(point: string, world: Lifecycle, conversationId: string) {
  const held = compactionBench({
    ...world.bench,
    atCrashPoint: async (name) => {
      if (name === point) await erase(world);
    },
  });
  await compactOnce(held, conversationId).catch(() => undefined);
  await erase(world);
}

test.each(workerPoints)(
  'erasing during a compaction at %s leaves nothing, and the worker loses',
  async (point) => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await setConversation(world, conversationId, { compactionRequests: { ...manualRequest() } });

    await eraseAt(point, world, conversationId);

    expect(await remainsOf(world)).toEqual([]);
  },
);

/** A clock that notes how long it was waited on. */
function countingClock() {
  const waits: number[] = [];
  const wait = (ms: number) => {
    waits.push(ms);
    return setImmediate();
  };
  return { waits, clock: { now: () => new Date('2026-01-02T03:04:05Z'), wait } };
}

/** A store in which others win the guard of the first `losses` batches that are meant. */
function contested(
  store: DocumentStore,
  losses: number,
  isMeant: (write: Write) => boolean,
): DocumentStore {
  let left = losses;
  const commit: DocumentStore['commit'] = (writes) => {
    if (left === 0 || !writes.some((write) => isMeant(write))) return store.commit(writes);
    left -= 1;
    return Promise.reject(new GuardLostError({ paths: ['head'] }));
  };
  return { ...store, commit };
}

const isConversation = (conversationId: string) => (write: Write) =>
  write.op === 'update' && write.path === conversationPath(conversationId);

test('a disturbed erasure waits before it marks a conversation again', async () => {
  const world = lifecycle();
  const { conversationId } = await buildConversation(world.store, { turns: 1 });
  const { waits, clock } = countingClock();
  const store = contested(world.store, 2, isConversation(conversationId));

  const marked = await markErasing({ store, clock }, conversationId, () => true);

  expect(marked).toBe('erasing');
  expect(waits).toEqual([10, 20]);
});

const conversationId = 'c';
const own = { caller: { uid: 'u1', tier: 'signedIn' } as const, conversationId };

/** An instance that answers, and the others, on one store. */
async function answering() {
  const clock = createManualClock();
  const store = createMemoryDocumentStore();
  const process = stoppable({ store, clock });
  let isDeaf = false;
  const producer = steeredChat({
    clock: process.clock,
    store: {
      ...process.store,
      get: (paths) =>
        isDeaf
          ? Promise.reject(new StoreUnavailableError({ operation: 'get' }))
          : process.store.get(paths),
    },
  });
  const { result } = await sendMessage(producer.dependencies, request(conversationId, 'Tell me.'));
  result.catch(() => undefined);
  const other = chatDependencies({ store, clock });
  const bench = compactionBench({ store, clock });
  let isErased = false;
  return {
    clock,
    store,
    process,
    other,
    call: await producer.call(),
    /** Its reads fail from now on: it does not hear that the turn is no longer its own. */
    deafen: () => void (isDeaf = true),
    eraseIt: async () => {
      await eraseOwnConversation(other, own);
      void eraseConversation(bench, conversationId, neverAborted()).then(() => (isErased = true));
      await settle();
    },
    isErased: () => isErased,
    chunks: () => storedChunks(store, conversationId),
  };
}

test('an erasure takes what a producer that does not hear of it appends, and outlasts its lease', async () => {
  const { clock, store, call, deafen, eraseIt, isErased, chunks } = await answering();
  deafen();
  await eraseIt();

  call.say('Said to nobody.');
  await pass(clock, 700);
  expect(await chunks()).toHaveLength(1);
  expect(isErased()).toBe(false);
  for (let passed = 0; passed < 20_000; passed += 500) {
    call.say('More.');
    await pass(clock, 500, 100);
  }

  expect(isErased()).toBe(true);
  expect(await chunks()).toEqual([]);
  expect((await readAnyConversation(store, conversationId))?.value.state).toBe('erased');
});

test('a producer that cannot renew its lease appends nothing in its second half', async () => {
  const { clock, call, deafen, eraseIt, chunks } = await answering();
  deafen();
  await pass(clock, 4_000);
  await eraseIt();
  await pass(clock, 6_500, 100);
  const before = (await chunks()).length;

  call.say('Too late.');
  await pass(clock, 5_000, 100);

  expect(await chunks()).toHaveLength(before);
});

test('a chunk that reaches the database behind the erasure is taken back', async () => {
  const { clock, process, call, eraseIt, isErased, chunks } = await answering();
  call.say('Held up.');
  await pass(clock, 500);
  const goOn = process.stop();
  await eraseIt();
  await pass(clock, 25_000, 500);
  expect(isErased()).toBe(true);

  goOn();
  await pass(clock, 3_000);

  expect(await chunks()).toEqual([]);
});

test('a message is not deleted while its producer may append to its stream', async () => {
  const { clock, other, call, deafen, chunks } = await answering();
  call.say('Half an answer');
  await pass(clock, 600);
  deafen();
  await deleteConversation(other, own);
  await undeleteConversation(other, own);
  const asked = { ...own, messageId: 'm_1' };

  await expect(deleteMessage(other, asked)).rejects.toMatchObject({ reason: 'TURN_IN_PROGRESS' });
  await pass(clock, 21_000, 500);
  await deleteMessage(other, asked);

  expect(await chunks()).toEqual([]);
  expect((await storedTurn(other, conversationId)).contents).toEqual([]);
});
