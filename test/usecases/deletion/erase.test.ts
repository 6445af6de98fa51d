import { deleteConversation } from '#functions/chat/conversations/erase/delete-conversation.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { createConversation } from '#functions/chat/conversations/write-conversation.ts';
import { markErasing, eraseConversation } from '#functions/erasure/erase-conversation.ts';
import { finishErasure } from '#functions/erasure/finish-erasure.ts';
import { compactionCrashPoints } from '#functions/lib/crash-points.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import {
  usagePath,
  userPath,
  compactionJobPath,
  historyPath,
  conversationPath,
} from '#shared/conversation/documents/paths.ts';
import { GuardLostError } from '#shared/errors.ts';
import type { DocumentStore, Write } from '#shared/ports/ports.ts';
import { encodeUsage, noUsage } from '#shared/quota/usage.ts';
import { slowWrites } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import {
  CANARY,
  compacted,
  lifecycle,
  owner,
  setConversation,
  type Lifecycle,
  dyingAt,
  erase,
  remainsOf,
  serveErasures,
} from '#test/support/chat/lifecycle.ts';
import {
  neverAborted,
  manualRequest,
  compactOnce,
  compactionBench,
  actingAt,
} from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { buildMany } from '#test/support/stores/many-conversations.ts';
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

  test('erasing a user removes the documents below the user', async () => {
    const world = lifecycle();
    await world.store.commit(
      ['', '/memory/notes', '/memories/m1'].map((below) => ({
        op: 'create' as const,
        path: `${userPath('u1')}${below}`,
        fields: { text: CANARY },
      })),
    );

    await erase(world);

    expect(await world.documents()).toEqual([]);
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

  test('erasing a user ends although the person keeps starting conversations', async () => {
    const world = lifecycle();
    await createConversation(world.chat, { caller: owner, fields: {} });
    const chat = {
      ...world.chat,
      atCrashPoint: async (name: string) => {
        if (name === 'erase-published')
          await createConversation(world.chat, {
            caller: owner,
            id: '00000000-0000-4000-8000-' + String(world.chat.published.length).padStart(12, '0'),
            fields: {},
          });
      },
    };

    const { conversations } = await eraseUser(chat, { caller: owner });

    expect(conversations).toBeLessThan(200);
  });
});

describe('S20: an erased conversation', () => {
  test('an erased conversation’s id stays taken', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await erase(world);
    const again = { caller: owner, id: conversationId, fields: {} };

    await expect(createConversation(world.chat, again)).rejects.toMatchObject({
      status: 'NOT_FOUND',
    });
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

const caller = { uid: 'u1', tier: 'signedIn' } as const;

const statesOf = (store: DocumentStore, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await readConversation(store, id))?.value.state));

test('three hundred conversations of a user are marked ten at a time, each published once', async () => {
  let [underWay, most] = [0, 0];
  const chat = chatDependencies();
  const ids = await buildMany(chat.store, 300, () => ({}));
  const publish = async (event: Parameters<typeof chat.publisher.publish>[0]) => {
    most = Math.max(most, (underWay += 1));
    await setImmediate();
    underWay -= 1;
    await chat.publisher.publish(event);
  };

  const { conversations } = await eraseUser({ ...chat, publisher: { publish } }, { caller });

  expect(conversations).toBe(300);
  expect(most).toBe(10);
  expect(chat.published).toHaveLength(300);
  expect(new Set(await statesOf(chat.store, ids))).toEqual(new Set(['erasing']));
});

/** Workers never come to the points of the sweep. */
const workerPoints = Object.keys(compactionCrashPoints).filter(
  (point) => !point.startsWith('sweep-'),
);

describe('erasing in the middle of a compaction', () => {
  test('erasing during a compaction makes the worker lose before anything is deleted', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await setConversation(world, conversationId, { compactionRequests: { ...manualRequest() } });
    const held = actingAt(world.bench, 'before-swap', () =>
      eraseUser(world.chat, { caller: owner }),
    );

    await compactOnce(held, conversationId).catch(() => undefined);

    const [history, job] = await world.store.get([
      historyPath(conversationId, 2),
      compactionJobPath(conversationId),
    ]);
    expect([history, job]).toEqual([undefined, undefined]);
  });

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
});

/** A clock that notes how long it was waited on. */
function countingClock() {
  const waits: number[] = [];
  const wait = (ms: number) => {
    waits.push(ms);
    return setImmediate();
  };
  return { waits, clock: { now: () => new Date('2026-01-02T03:04:05Z'), wait } };
}

/** A store in which others win the guard of the first `losses` batches that are meant, and what it was asked. */
function contested(store: DocumentStore, losses: number, isMeant: (write: Write) => boolean) {
  let left = losses;
  const asked: string[] = [];
  const commit: DocumentStore['commit'] = (writes) => {
    if (left === 0 || !writes.some((write) => isMeant(write))) return store.commit(writes);
    left -= 1;
    return Promise.reject(new GuardLostError({ paths: ['head'] }));
  };
  const deleteBelow: DocumentStore['deleteBelow'] = (path, signal) => {
    asked.push(path);
    return store.deleteBelow(path, signal);
  };
  return { asked, store: { ...store, commit, deleteBelow } };
}

const isConversation = (conversationId: string) => (write: Write) =>
  write.op === 'update' && write.path === conversationPath(conversationId);

describe('an erasure that others disturb', () => {
  test('a disturbed erasure waits longer each time and repeats only its last step', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const request = { caller: owner, conversationId, messageId: 'message-2' };
    const dying = { ...world.chat, ...dyingAt('message-wiped') };
    await expect(deleteMessage(dying, request)).rejects.toThrow('died');
    const { waits, clock } = countingClock();
    const { asked, store } = contested(world.store, 3, isConversation(conversationId));

    await finishErasure({ ...world.chat, store, clock }, conversationId);

    expect(waits).toEqual([10, 20, 30]);
    expect(asked).toHaveLength(2);
    expect((await readConversation(store, conversationId))?.value.pendingErasure).toBeUndefined();
  });

  test('a disturbed erasure waits before it marks a conversation again', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 1 });
    const { waits, clock } = countingClock();
    const { store } = contested(world.store, 2, isConversation(conversationId));

    const marked = await markErasing({ store, clock }, conversationId, () => true);

    expect(marked).toBe('erasing');
    expect(waits).toEqual([10, 20]);
  });
});
