import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import {
  createConversation,
  updateConversation,
} from '#functions/chat/conversations/write-conversation.ts';
import { putDevice } from '#functions/chat/features/devices.ts';
import { createMemory } from '#functions/chat/features/memories.ts';
import { showUsage } from '#functions/chat/routes/usage.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { answerId } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { owner } from '#test/support/chat/lifecycle.ts';
import { limitedChat, usageOf } from '#test/support/chat/quotas.ts';
import { recordCommits } from '#test/support/compaction/commit-rules.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { meteredWorld, type MeteredWorld } from './metered-world.ts';
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

const guest: Caller = { uid: 'u1', tier: 'anonymous' };

const chatWith = (environment: Record<string, string>) => {
  const manual = createManualClock();
  const commits = recordCommits();
  const store = createMemoryDocumentStore({ beforeOperation: commits.beforeOperation });
  const clock = { ...manual, wait: () => setImmediate() };
  return { ...limitedChat(environment, { clock, store }), manual, commits };
};

async function reasonOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'made';
  } catch (error) {
    if (error instanceof AppError) return error.reason;
    throw error;
  }
}

const makeConversation = (chat: ChatDependencies, input: { caller: Caller; id: string }) =>
  createConversation(chat, { ...input, fields: {} });

/** Everything that a caller makes beside messages. */
const ways: Readonly<
  Record<
    string,
    (chat: ChatDependencies, input: { caller: Caller; id: string }) => Promise<unknown>
  >
> = {
  'a conversation': makeConversation,
  'a device': (chat, { caller, id }) =>
    putDevice(chat, {
      caller: { ...caller, signedInAt: new Date(0) },
      deviceId: id,
      token: `token-${id}`,
      platform: 'ios',
    }),
  'a note': (chat, input) => createMemory(chat, { ...input, text: `Note ${input.id}.` }),
  'a fork': (chat, { caller, id }) =>
    forkConversation(chat, { caller, id, conversationId: 'source', messageId: answerId(2) }),
};

const withSource = async (environment: Record<string, string>) => {
  const chat = chatWith(environment);
  await buildConversation(chat.store, { conversationId: 'source', turns: 250 });
  chat.commits.commits.length = 0;
  return chat;
};

describe.each(Object.entries(ways))('S4: %s', (_, make) => {
  test('S4: creation is limited a day, then refused with limit and remedy', async () => {
    const chat = await withSource({ USER_DAILY_CREATIONS: '2' });
    const first = randomUUID();
    await make(chat, { caller: owner, id: first });
    await make(chat, { caller: owner, id: randomUUID() });

    const refused = make(chat, { caller: owner, id: randomUUID() });

    await expect(refused).rejects.toMatchObject({
      status: 'RESOURCE_EXHAUSTED',
      reason: 'USER_DAILY_CREATIONS',
      metadata: { quota: 'creationsPerDay', limit: '2', used: '2' },
      publicMessage: expect.stringMatching(/^2 .* may be made in a day.* Go on from 2026-01-03T/),
    });
    // What is there already is none more.
    await expect(make(chat, { caller: owner, id: first })).resolves.toBeDefined();
    expect(chat.commits.brokenRules()).toEqual([]);
    chat.manual.advance(24 * 60 * 60_000);
    await expect(make(chat, { caller: owner, id: randomUUID() })).resolves.toBeDefined();
  });
});

test('S4: a guest’s creations have a lower limit, with a sign-in hint', async () => {
  const chat = chatWith({ USER_DAILY_CREATIONS: '9', ANONYMOUS_DAILY_CREATIONS: '1' });
  await makeConversation(chat, { caller: guest, id: randomUUID() });

  const refused = makeConversation(chat, { caller: guest, id: randomUUID() });

  await expect(refused).rejects.toMatchObject({
    reason: 'ANONYMOUS_LIMIT',
    publicMessage: expect.stringContaining('Sign in'),
  });
});

test('a fork counts once for every hundred turns that it copies', async () => {
  const chat = await withSource({ USER_DAILY_CREATIONS: '5' });
  const fork = (seq: number) =>
    reasonOf(
      forkConversation(chat, {
        caller: owner,
        conversationId: 'source',
        messageId: answerId(seq),
      }),
    );

  expect(await fork(250)).toBe('made');
  expect((await usageOf(chat.store)).created).toBe(3);
  expect(await fork(250)).toBe('USER_DAILY_CREATIONS');
  expect(await fork(100)).toBe('made');
  expect((await showUsage(chat, owner)).limits.creationsPerDay).toMatchObject({
    limit: 5,
    used: 4,
    left: 1,
  });
});

test('creations stay counted when the user erases everything', async () => {
  const chat = await withSource({ USER_DAILY_CREATIONS: '1' });
  await createConversation(chat, { caller: owner, id: randomUUID(), fields: {} });

  await eraseUser(chat, { caller: owner });

  const again = createConversation(chat, { caller: owner, id: randomUUID(), fields: {} });
  expect(await reasonOf(again)).toBe('USER_DAILY_CREATIONS');
});

const caller = { uid: 'u1', tier: 'signedIn' } as const;
const FORKS = 40;
const TURNS = 20;

/** What the dearest call of the world costs: one of the summariser. */
const ONE_CALL_MICROS = 10_000;

/** What somebody tries; a refusal is what they count on. */
async function trying<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError) {
      return undefined;
    }
    throw error;
  }
}

/** A conversation that somebody had before they turned to this. */
async function longConversation({ store }: MeteredWorld): Promise<string> {
  const conversation = { model: 'house-model', settings: {} };
  return (await buildConversation(store, { turns: TURNS, conversation })).conversationId;
}

const forkAtEnd = ({ chat }: MeteredWorld, conversationId: string) =>
  trying(forkConversation(chat, { caller, conversationId, messageId: answerId(TURNS) }));

const lowerThreshold = ({ chat }: MeteredWorld, conversationId: string) =>
  updateConversation(chat, {
    caller,
    conversationId,
    patch: { settings: { thresholdTokens: 1_000 } },
  });

const LIMIT_MICROS = 40_000;

describe.each([
  ['of one user', 'USER_DAILY_USD'],
  ['of all users', 'GLOBAL_DAILY_USD'],
])('S4: with the limit in dollars %s', (_, variable) => {
  const limited = () =>
    meteredWorld({ environment: { [variable]: String(LIMIT_MICROS / 1_000_000) } });

  test('forty forks under a lowered threshold cost at most one call beyond the limit', async () => {
    const world = limited();
    const id = await longConversation(world);
    await lowerThreshold(world, id);
    await Promise.all(Array.from({ length: FORKS }, () => forkAtEnd(world, id)));

    await world.deliver();
    await world.deliver();
    await Promise.all(world.chat.afterwork);

    expect(world.spentMicros()).toBeGreaterThan(0);
    expect(world.spentMicros()).toBeLessThanOrEqual(LIMIT_MICROS + ONE_CALL_MICROS);
  });

  test('sequential calls are made until nothing is left, then none', async () => {
    const world = limited();
    const id = await longConversation(world);
    await lowerThreshold(world, id);
    for (let i = 0; i < 10; i++) {
      await forkAtEnd(world, id);
      await world.deliver();
    }

    expect(world.spentMicros()).toBe(LIMIT_MICROS);
  });
});
