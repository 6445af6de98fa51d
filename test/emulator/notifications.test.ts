import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { devicePath } from '#shared/conversation/documents/paths.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { startEmulatorStack, type EmulatorStack } from '../support/processes/emulator-stack.ts';
import { eventually } from '../support/eventually.ts';
import { addDevice } from '../support/notifying.ts';
import { request } from '../support/chat/sending.ts';

let stack: EmulatorStack | undefined;
afterEach(async () => {
  await stack?.stop();
  stack = undefined;
});

test('an unwatched answer reaches the devices over both emulators, and a dead token is removed', async () => {
  stack = await startEmulatorStack({ FCM_PROJECT: 'demo-recap' });
  const { chat, fakeGemini } = stack;
  const uid = `user-${randomUUID()}`;
  const [phone, tablet, gone] = ['phone', 'tablet', 'gone'].map((name) => `${name}-${uid}`);
  for (const token of [phone, tablet, gone])
    await addDevice(chat.store, { uid, id: String(token).slice(0, 6), token: String(token) });
  fakeGemini.messaging.unregister(String(gone));
  fakeGemini.messaging.refuse({ status: 503, retryAfter: '1' }, String(tablet));
  const conversationId = randomUUID();

  const handle = await sendMessage(chat, {
    ...request(conversationId, 'Tell me about harbours.'),
    caller: { uid, tier: 'signedIn' },
  });
  await handle.result;

  await eventually('both notifications', async () =>
    fakeGemini.messaging.sent().length >= 2 ? true : undefined,
  );
  await eventually('the note of what was sent', async () => {
    const [turn] = await readTurns(chat.store, conversationId, [1]);
    return turn?.value.notice?.state === 'sent' ? true : undefined;
  });
  expect(fakeGemini.messaging.sent().map(({ token }) => token)).toEqual([phone, tablet]);
  expect(fakeGemini.messaging.sent()[0]?.data).toMatchObject({ conversationId, turnId: 't_1' });
  expect(await chat.store.get([devicePath(uid, String(gone).slice(0, 6))])).toEqual([undefined]);
}, 120_000);
