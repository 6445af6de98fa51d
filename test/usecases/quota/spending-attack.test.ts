import { requestCompaction } from '#functions/chat/context/manual-compaction.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { updateConversation } from '#functions/chat/conversations/write-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { answerId } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/errors.ts';
import { edit, regenerate } from '#test/support/chat/sending.ts';
import { autoRequest } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { meteredWorld, type MeteredWorld } from '#test/support/stores/metered-world.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

const caller = { uid: 'u1', tier: 'signedIn' } as const;
const FORKS = 40;
const TURNS = 20;

/** What the dearest call of the world costs: one of the summariser. */
const ONE_CALL_MICROS = 10_000;

const folding = { settings: { thresholdTokens: 1_000 }, compactionRequests: autoRequest() };

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

const forty = <T>(work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: FORKS }, (_, i) => work(i)));

/** Sends, and waits for the end. */
const send = async ({ chat }: MeteredWorld, request: Parameters<typeof sendMessage>[1]) =>
  (await sendMessage(chat, request)).result;

const attacks: Readonly<Record<string, (world: MeteredWorld) => Promise<void>>> = {
  'forty forks under a lowered threshold': async (world) => {
    const id = await longConversation(world);
    await lowerThreshold(world, id);
    await forty(() => forkAtEnd(world, id));
    await world.deliver();
  },
  'forty compactions that are asked for at once': async (world) => {
    const id = await longConversation(world);
    const forks = await forty(() => forkAtEnd(world, id));
    await forty(async (i) => {
      const conversationId = forks[i]?.conversationId ?? id;
      await trying(requestCompaction(world.chat, { caller, conversationId }));
    });
    await world.deliver();
  },
  'edits and regenerations, each followed by a compaction': async (world) => {
    const ids = await forty(() => longConversation(world));
    await Promise.all(ids.map((id) => lowerThreshold(world, id)));
    await forty((i) => {
      const id = ids[i] ?? '';
      const replacing =
        i % 2 === 0 ? edit(id, 'message-19', `Anew ${randomUUID()}`) : regenerate(id, 'message-20');
      return trying(send(world, replacing));
    });
    await world.deliver();
  },
};

/** Carries it out, and delivers what a worker has found meanwhile as well. */
async function execute(attack: (world: MeteredWorld) => Promise<void>, world: MeteredWorld) {
  await attack(world);
  await world.deliver();
  await Promise.all(world.chat.afterwork);
}

const LIMIT_MICROS = 40_000;

describe.each([
  ['of one user', 'USER_DAILY_USD'],
  ['of all users', 'GLOBAL_DAILY_USD'],
])('S4: with the limit in dollars %s', (_, variable) => {
  const limited = () =>
    meteredWorld({ environment: { [variable]: String(LIMIT_MICROS / 1_000_000) } });

  test.each(Object.entries(attacks))(
    '%s cost at most one call beyond the limit',
    async (_what, attack) => {
      const world = limited();

      await execute(attack, world);

      expect(world.spentMicros()).toBeGreaterThan(0);
      expect(world.spentMicros()).toBeLessThanOrEqual(LIMIT_MICROS + ONE_CALL_MICROS);
    },
  );

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

test('S4: forty users at once exceed the overall limit by at most one call', async () => {
  const world = meteredWorld({
    environment: { GLOBAL_DAILY_USD: String(LIMIT_MICROS / 1_000_000) },
  });
  await forty(async (i) => {
    const conversation = { model: 'house-model', ownerUid: `u${i}`, ...folding };
    const { conversationId } = await buildConversation(world.store, { turns: TURNS, conversation });
    world.ask(conversationId);
  });

  await world.deliver();

  expect(world.spentMicros()).toBeGreaterThan(0);
  expect(world.spentMicros()).toBeLessThanOrEqual(LIMIT_MICROS + ONE_CALL_MICROS);
});
