import { userEventsReply } from '#functions/chat/inbox/event-stream.ts';
import { EVENTS_LIFE_MS } from '#functions/chat/inbox/user-events.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { UserEvent } from '#shared/wire/resources/user-events.ts';
import { errorOf, serveForTest } from '#test/support/chat/chat-server.ts';
import { listen, phoneOf, type ReceivedEvent } from './phone.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { expect, onTestFinished, test } from 'vitest';

async function start(overrides: Parameters<typeof serveForTest>[0] = {}) {
  const chat = await serveForTest({
    ...overrides,
    overrides: { model: scriptedStreamer(textAnswer('Yes.')).model, ...overrides.overrides },
  });
  const phone = phoneOf(chat);
  const open = async (cursor?: string) => {
    const stream = await listen(chat, phone.uid, cursor);
    onTestFinished(stream.stop);
    return stream;
  };
  return { chat, phone, open };
}

const isReady = ({ type }: UserEvent) => type === 'ready';
const isAnswer =
  (seq: number) =>
  (event: UserEvent): boolean =>
    event.type === 'conversation' &&
    event.conversation.lastMessage?.role === 'model' &&
    event.conversation.lastMessage.seq === seq;
const told = (events: readonly ReceivedEvent[]) =>
  events.map(({ event }) =>
    event.type === 'conversation'
      ? `${event.conversation.state} ${event.conversation.lastSeq}`
      : event.type,
  );

test('a device that was away is told what it missed, once, after its cursor', async () => {
  const { phone, open } = await start();
  const before = await open();
  const [ready] = await before.until(isReady);
  before.stop();
  const first = await phone.send('One?');
  const second = await phone.send('Two?');

  const back = await (await open(ready?.id)).until(isReady);
  const again = await (await open(back[0]?.id)).until(isReady);
  const caughtUp = await (await open(back.at(-1)?.id)).until(isReady);

  const idsOf = (events: readonly ReceivedEvent[]) =>
    events.flatMap(({ event }) => (event.type === 'conversation' ? [event.conversation.id] : []));
  expect(idsOf(back)).toEqual([first.id, second.id]);
  expect(idsOf(again)).toEqual([second.id]);
  expect(idsOf(caughtUp)).toEqual([]);
});

test('a device is told what was read, archived, erased and gone', async () => {
  const { phone, open } = await start();
  const { id, messageId } = await phone.send('One?');
  const tablet = await open();
  await tablet.until(isReady);
  const next = async () => (await tablet.next())?.event;

  await phone.post(`${id}:read`, { seq: 1 });
  expect(await next()).toMatchObject({ conversation: { unreadCount: 0 } });
  await phone.call(`/v1/conversations/${id}`, { method: 'PATCH', body: { archived: true } });
  expect(await next()).toMatchObject({ conversation: { archived: true } });
  await phone.call(`/v1/conversations/${id}/messages/${messageId}`, { method: 'DELETE' });
  expect(await next()).toMatchObject({ erased: { count: 1, seqs: [1] } });
  await phone.call(`/v1/conversations/${id}?permanent=true`, { method: 'DELETE' });
  expect(await next()).toEqual({ type: 'gone', conversationId: id });
});

test('a look in the background is told what was missed, and ends', async () => {
  const { chat, phone, open } = await start();
  const [ready] = await (await open()).until(isReady);
  await phone.send('Hello?');

  const looked = await listen(chat, phone.uid, ready?.id, { once: true });

  expect(told(await looked.until(() => false))).toEqual(['idle 1', 'ready']);
});

test('nobody is told of another user', async () => {
  const { chat, phone, open } = await start();
  const other = await listen(chat, 'mallory');
  const own = await open();
  await Promise.all([other.until(isReady), own.until(isReady)]);
  await phone.send('Hello?');
  await own.until(isAnswer(1));
  await phoneOf(chat, 'mallory').send('Mine?');

  const events = await other.until(isAnswer(1));
  other.stop();

  expect(JSON.stringify(events)).not.toContain('Hello?');
});

test('a stream ends after five minutes with the cursor to come back with', async () => {
  const clock = createManualClock();
  const { open } = await start({ overrides: { clock } });
  const stream = await open();
  await stream.until(isReady);

  clock.advance(EVENTS_LIFE_MS);

  expect(told(await stream.until(() => false))).toEqual(['reconnect']);
});

test('a device that keeps coming back is told nothing anew where nothing happens for weeks', async () => {
  const clock = createManualClock();
  const { open } = await start({ overrides: { clock } });
  const types: string[] = [];

  let cursor: string | undefined;
  for (let day = 0; day < 24; day += 6) {
    const [event] = await (await open(cursor)).until(() => true);
    types.push(...told(event ? [event] : []));
    cursor = event?.id;
    clock.advance(6 * 24 * 60 * 60_000);
  }

  expect(types).toEqual(['ready', 'ready', 'ready', 'ready']);
});

test('who was away for more than a week reads the list anew', async () => {
  const { phone, open } = await start();
  await phone.send('Hello?');

  const events = await (await open('1000_0.0_')).until(() => true);

  expect(told(events)).toEqual(['reset']);
});

test.each(['x', '1_2', '1_1.1_not-an-id', '-5_1.1_', '8640000000000000_1.1_'])(
  'the cursor %s is refused',
  async (cursor) => {
    const { phone } = await start();

    const response = await phone.call(`/v1/users/me/events?cursor=${cursor}`);

    expect(await errorOf(response)).toMatchObject({ http: 400, metadata: { field: 'cursor' } });
  },
);

test('a user has ten streams at once, and another one when one ends', async () => {
  const { phone, open } = await start();
  const streams = await Promise.all(Array.from({ length: 10 }, () => open()));

  const refused = await errorOf(await phone.call('/v1/users/me/events'));
  streams[0]?.stop();

  expect(refused).toMatchObject({ http: 429, reason: 'USER_STREAMS' });
  await expect
    .poll(() =>
      open().then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
});

test('who hangs up before the stream begins takes no place', async () => {
  const { chat, phone, open } = await start();
  const dependencies = { ...chat.dependencies, sendMessage, heartbeatMs: 15_000 };
  const caller = { uid: phone.uid, tier: 'signedIn' as const };
  const gone = { caller, cursor: undefined, once: false, left: AbortSignal.abort() };
  for (let calls = 1; calls <= 10; calls++) userEventsReply(dependencies, gone);

  const stream = await open();

  expect(told(await stream.until(isReady))).toEqual(['ready']);
});
