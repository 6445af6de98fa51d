import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { systemClock } from '#functions/adapters/system/system-clock.ts';
import { compactionCrashPoints, type ChatCrashPoint } from '#functions/lib/crash-points.ts';
import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { compactionJobPath, historyPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { actingAt, compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import {
  manualRequest,
  buildDue,
  compactOnce,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  dyingAt,
  CANARY,
  compacted,
  lifecycle,
  owner,
  setConversation,
  type Lifecycle,
} from '#test/support/chat/lifecycle.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { request } from '#test/support/chat/sending.ts';
import { erase, remainsOf } from '#test/support/compaction/erasing.ts';

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

  test.each(workerPoints)(
    'erasing during the first compaction, at %s, leaves nothing',
    async (point) => {
      const world = lifecycle();
      const conversationId = await buildDue(world.bench);

      await eraseAt(point, world, conversationId);

      expect(await remainsOf(world)).toEqual([]);
    },
  );
});

describe('erasing in the middle of a turn', () => {
  /** An erasure waits for the lease of the turn that it ends. */
  const answering = () => {
    const { config } = chatDependencies({}, { TURN_LEASE_MS: '200' });
    return lifecycle({ clock: systemClock, config }, (options) =>
      compactionBench({ ...options, clock: { ...createManualClock(), ...systemClock } }),
    );
  };

  test.each([
    'turn-started',
    'answer-streamed',
    'before-finish',
    'turn-finished',
    'turn-published',
  ] satisfies ChatCrashPoint[])('erasing during a turn at %s leaves nothing', async (point) => {
    const world = answering();
    const conversationId = randomUUID();
    let reached = 0;
    const chat = {
      ...world.chat,
      atCrashPoint: async (name: string) => {
        if (name !== point) return;
        reached += 1;
        await erase(world);
      },
    };

    const handle = await sendMessage(chat, request(conversationId, CANARY));
    await handle.result.catch(() => undefined);
    await erase(world);

    expect(reached).toBe(1);
    expect(await remainsOf(world)).toEqual([]);
  });

  test('erasing leaves nothing of a turn whose process died', async () => {
    const world = answering();
    const conversationId = randomUUID();
    const chat = { ...world.chat, ...dyingAt('turn-started') };
    const handle = await sendMessage(chat, request(conversationId, CANARY));
    await expect(handle.result).rejects.toThrow('died');
    const [turn] = await world.store.get([turnPath(conversationId, 1)]);
    expect(turn?.fields['state']).toBe('running');

    await erase(world);

    expect(await remainsOf(world)).toEqual([]);
  });
});
