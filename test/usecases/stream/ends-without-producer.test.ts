import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { scriptedStreamer } from '#test/fakes/scripted-streamer.ts';
import { cancel, instances, queued, request } from '#test/support/chat/sending.ts';
import { withAppTools } from '#test/support/tools/tool-world.ts';
import { eventually } from '#test/support/eventually.ts';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

/* A turn that waits, or whose instance has died, has nobody who tells of its end but the request that ends it. */

const listened = {
  EVENT_WEBHOOK_URL: 'https://hooks.example.com/events',
  HOOK_HOSTS: 'hooks.example.com',
  HOOK_SIGNING_KEY: 'a signing key of thirty-two chars',
};

type Chat = ReturnType<ReturnType<typeof instances>['instance']>;

/** The events of turns, when all work behind the requests is done. */
async function eventsOf(chat: Chat): Promise<unknown[]> {
  await eventually('the end of all work', async () => chat.afterwork.size === 0 || undefined);
  return chat.told.filter(({ topic }) => topic === 'events').map(({ data }) => data);
}

test('a waiting message that is cancelled is told of', async () => {
  const world = instances(listened);
  const chat = world.instance();
  const id = randomUUID();
  await sendMessage(chat, request(id, 'one'));
  await sendMessage(chat, queued(id, 'two'));

  await cancel(chat, id, 2);

  expect(await eventsOf(chat)).toEqual([
    expect.objectContaining({
      type: 'turn.finished',
      turnId: 't_2',
      state: 'cancelled',
      isAttended: true,
    }),
  ]);
});

test('a turn that waits for the app and is cancelled is told of', async () => {
  const call = { functionCall: { name: 'locate', args: {} } };
  const { model } = scriptedStreamer({ chunks: [{ parts: [call], finishReason: 'STOP' }] });
  const chat = instances(listened).instance({ model });
  const id = randomUUID();
  await withAppTools(chat, id, ['locate']);
  await (
    await sendMessage(chat, request(id, 'Where am I?'))
  ).result;

  await cancel(chat, id);

  expect((await eventsOf(chat)).at(-1)).toMatchObject({
    type: 'turn.finished',
    turnId: 't_1',
    state: 'cancelled',
    isAttended: true,
  });
});

test('an abandoned turn that the next message closes is told of', async () => {
  const world = instances(listened);
  const id = randomUUID();
  const begun = Promise.withResolvers<void>();
  const dying = world.instance({
    clock: { ...world.clock, wait: () => new Promise(() => undefined) },
    atCrashPoint: (point) => {
      if (point !== 'turn-started') return Promise.resolve();
      begun.resolve();
      return new Promise(() => undefined);
    },
  });
  void sendMessage(dying, request(id, 'one'));
  await begun.promise;
  world.clock.advance(20_001);
  const chat = world.instance();

  await sendMessage(chat, request(id, 'two'));

  expect(await eventsOf(chat)).toEqual([
    expect.objectContaining({
      type: 'turn.finished',
      turnId: 't_1',
      state: 'failed',
      reason: 'TURN_ABANDONED',
      isAttended: true,
    }),
  ]);
});
