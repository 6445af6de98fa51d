import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { listMessages } from '#functions/chat/conversations/list-messages.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import {
  CANARY,
  canaries,
  lifecycle,
  owner,
  removeMessage,
  type Lifecycle,
} from '#test/support/chat/lifecycle.ts';
import { passTime } from '#test/support/pass-time.ts';
import { edit, regenerate, shownTexts } from '#test/support/chat/replacing.ts';
import { request } from '#test/support/chat/sending.ts';
import { answered, instances, turnsOf } from '#test/support/chat/starts.ts';

describe('deleting a regenerated message', () => {
  /** A message with the canary, answered three times. */
  async function regenerated({ chat }: Pick<Lifecycle, 'chat'>) {
    const id = randomUUID();
    const asked = request(id, `The word is ${CANARY}.`);
    await answered(chat, asked);
    const again = regenerate(id, 'm_1');
    await answered(chat, again);
    await answered(chat, regenerate(id, 'm_2'));
    return { id, messageIds: [asked.message.id, again.message.id] };
  }

  test.each([0, 1])(
    'deleting a regenerated message erases it from every turn (named by turn %#)',
    async (index) => {
      const world = lifecycle();
      const { id, messageIds } = await regenerated(world);

      await removeMessage(world, id, messageIds[index] ?? '');

      expect(await canaries(world)).toEqual([]);
      expect(await shownTexts(world.chat, id)).toEqual([]);
      const page = { caller: owner, conversationId: id, pageSize: 10, order: 'asc' } as const;
      const { messages } = await listMessages(world.chat, { ...page, afterSeq: 0 });
      expect(messages.map(({ deleted }) => deleted)).toEqual(messages.map(() => true));
    },
  );

  test('deleting a regenerated message leaves the edit that replaced it', async () => {
    const world = lifecycle();
    const { id, messageIds } = await regenerated(world);
    const [last] = (await turnsOf(world.chat, id, 3)).slice(-1);
    await answered(world.chat, edit(id, last?.messageId ?? '', 'Something else.'));

    await removeMessage(world, id, messageIds[0] ?? '');

    expect(await canaries(world)).toEqual([]);
    expect(await shownTexts(world.chat, id)).toEqual(['Something else.', 'Fine.']);
  });

  test('deleting one answer leaves the message’s other answers', async () => {
    const world = lifecycle();
    const { id } = await regenerated(world);

    await removeMessage(world, id, 'm_1');

    const turns = await turnsOf(world.chat, id, 3);
    expect(turns.map(({ contents }) => contents.length)).toEqual([0, 1, 1]);
    expect(turns.map(({ user }) => contentText(user).includes(CANARY))).toEqual([true, true, true]);
  });

  test('deleting a message waits while it is being regenerated', async () => {
    const world = instances();
    const chat = world.instance();
    const id = randomUUID();
    const asked = request(id, 'one');
    const first = await sendMessage(chat, asked);
    await world.called(1);
    const again = await sendMessage(chat, { ...regenerate(id, 'm_1'), onBusy: 'queue' });
    world.answerAll();
    await passTime(world.clock, first.result);

    const removal = removeMessage({ chat }, id, asked.message.id);

    await expect(removal).rejects.toMatchObject({
      reason: 'TURN_IN_PROGRESS',
      metadata: { turnId: 't_2' },
    });
    world.answerAll();
    await passTime(world.clock, again.result);
    await removeMessage({ chat }, id, asked.message.id);
    expect((await turnsOf(chat, id, 2)).map(({ user }) => user.parts)).toEqual([[], []]);
  });
});
