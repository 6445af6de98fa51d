import { inboxPath } from '#shared/conversation/documents/paths.ts';
import { inboxEntryResponse } from '#shared/wire/resources/inbox.ts';
import { decodeInboxEntry } from '#shared/conversation/documents/inbox.ts';
import { errorOf, readAs, serveForTest } from '#test/support/chat/chat-server.ts';
import { startAttaching, textFile } from '#test/support/chat/attaching.ts';
import { phoneOf } from './phone.ts';
import { heldStreamer, scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import type { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { encodePageToken } from '#shared/store/page-token.ts';
import { AppError } from '#shared/lib/errors.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';

async function start(overrides: Parameters<typeof chatDependencies>[0] = {}) {
  const store = createMemoryDocumentStore();
  const chat = await serveForTest({ overrides: { store, ...overrides } });
  return { chat, phone: phoneOf(chat) };
}

const answering = (...texts: string[]) => ({
  model: scriptedStreamer(...texts.map((text) => textAnswer(text))).model,
});

describe('the list of conversations', () => {
  test('shows each with its last message, who wrote it, and whether it was read', async () => {
    const { phone } = await start(answering('Two masts.', 'Blue.'));
    const { id } = await phone.send('How many masts\n has the *boat*?');
    const other = await phone.send('Which colour?');

    expect(await phone.list()).toMatchObject([
      {
        id: other.id,
        state: 'idle',
        lastMessage: { seq: 1, role: 'model', preview: 'Blue.' },
        lastSeq: 1,
        unreadCount: 1,
      },
      { id, lastMessage: { role: 'model', preview: 'Two masts.' }, archived: false, pinned: false },
    ]);
  });

  test('tells of a running answer with its question, and of one that failed', async () => {
    const held = heldStreamer();
    const { phone } = await start({ model: held.model });
    const sent = phone.send('Is anybody there?');
    await expect.poll(() => held.calls.length).toBe(1);

    expect(await phone.list()).toMatchObject([
      {
        state: 'running',
        lastMessage: { seq: 1, role: 'user', preview: 'Is anybody there?' },
        unreadCount: 0,
      },
    ]);

    held.answerAll();
    await sent;
    expect(await phone.list()).toMatchObject([{ state: 'idle', lastMessage: { role: 'model' } }]);
  });

  test('shows what the user said beside a text file, and none of its words', async () => {
    const world = await startAttaching();
    onTestFinished(() => world.stop());
    const phone = phoneOf(world.chat);
    const uploadId = await world.upload(textFile('Bring 40 m of rope.'), phone.uid);
    const parts = [
      { type: 'text', text: 'My list' },
      { type: 'file', uploadId },
    ];
    await phone.post(`${randomUUID()}/messages`, { message: { id: randomUUID(), parts } });

    const [row] = await phone.list();
    const [document] = await world.store.get([inboxPath(phone.uid, row?.id ?? '')]);
    expect(document && decodeInboxEntry(document).asked?.preview).toBe('My list');
  });

  test('shows the question of an answer that failed', async () => {
    const refused = new AppError({ reason: 'MODEL_REFUSED_REQUEST', publicMessage: 'No.' });
    const { phone } = await start({ model: scriptedStreamer({ error: refused }).model });
    await phone.send('Hello?');

    expect(await phone.list()).toMatchObject([
      { state: 'failed', lastMessage: { role: 'user', preview: 'Hello?' }, unreadCount: 1 },
    ]);
  });

  test('has the archived ones, the pinned, the unread and those in the bin in lists of their own', async () => {
    const { phone } = await start(answering('Yes.'));
    const [a, b, c] = [await phone.send('A?'), await phone.send('B?'), await phone.send('C?')];
    await phone.call(`/v1/conversations/${a.id}`, { method: 'PATCH', body: { archived: true } });
    await phone.call(`/v1/conversations/${b.id}`, {
      method: 'PATCH',
      body: { pinned: true, title: 'Boats' },
    });
    await phone.call(`/v1/conversations/${c.id}`, { method: 'DELETE' });
    const idsOf = async (query: string) => (await phone.list(query)).map(({ id }) => id);

    expect(await idsOf('')).toEqual([b.id]);
    expect(await idsOf('list=archived')).toEqual([a.id]);
    expect(await idsOf('list=deleted')).toEqual([c.id]);
    expect(await idsOf('pinned=true')).toEqual([b.id]);
    expect(await idsOf('unread=true')).toEqual([b.id]);
    expect(await phone.list()).toMatchObject([{ title: 'Boats', pinned: true }]);

    await phone.post(`${c.id}:undelete`);
    await phone.call(`/v1/conversations/${a.id}`, { method: 'PATCH', body: { archived: false } });
    expect(await idsOf('')).toEqual([c.id, b.id, a.id]);
    expect(await idsOf('list=deleted')).toEqual([]);
  });

  test('tells of an answer that a deletion has stopped when the conversation is taken back', async () => {
    const held = heldStreamer();
    const { chat, phone } = await start({ model: held.model });
    const id = randomUUID();
    const sent = phone.send('Is anybody there?', id);
    await expect.poll(() => held.calls.length).toBe(1);
    await phone.call(`/v1/conversations/${id}`, { method: 'DELETE' });
    await sent;
    await phone.post(`${id}:undelete`);

    const [document] = await chat.dependencies.store.get([inboxPath(phone.uid, id)]);
    expect(document && decodeInboxEntry(document)).toMatchObject({
      list: 'active',
      state: 'idle',
      answered: { seq: 1, state: 'cancelled' },
    });
  });

  test('an erased message is in no preview, and an erased conversation in no list', async () => {
    const { chat, phone } = await start(answering('A secret answer.'));
    const { id, messageId } = await phone.send('A secret question?');

    await phone.call(`/v1/conversations/${id}/messages/m_1`, { method: 'DELETE' });
    const [withoutAnswer] = await phone.list();
    await phone.call(`/v1/conversations/${id}/messages/${messageId}`, { method: 'DELETE' });

    expect(withoutAnswer?.lastMessage).toMatchObject({ role: 'model', deleted: true });
    expect(JSON.stringify(withoutAnswer)).not.toContain('answer.');
    expect(JSON.stringify(await phone.list())).not.toContain('secret');
    await phone.call(`/v1/conversations/${id}?permanent=true`, { method: 'DELETE' });
    expect([...(await phone.list()), ...(await phone.list('list=deleted'))]).toEqual([]);
    const [entry] = await chat.dependencies.store.get([inboxPath(phone.uid, id)]);
    expect(JSON.stringify(entry)).not.toContain('secret');
  });

  test('a fork is listed with the message that it ends with, and read', async () => {
    const { phone } = await start(answering('First.', 'Second.'));
    const { id } = await phone.send('One?');
    await phone.send('Two?', id);

    await phone.post(`${id}:fork`, { messageId: 'm_1' });

    expect(await phone.list()).toMatchObject([
      { lastSeq: 1, lastMessage: { seq: 1, preview: 'First.' }, unreadCount: 0 },
      { id, lastMessage: { preview: 'Second.' } },
    ]);
  });

  test('a long message is cut, and a file without words has no preview', async () => {
    const { phone } = await start(answering('x'.repeat(5_000)));
    const { id } = await phone.send('Say x.');

    const [entry] = await phone.list();

    expect(entry?.lastMessage?.preview).toHaveLength(120);
    expect(entry?.id).toBe(id);
  });

  test('refuses a page token with a time that the store does not take', async () => {
    const { chat, phone } = await start(answering('Yes.'));
    const { id } = await phone.send('A?');
    const parameters = { list: 'active', pinned: false, unread: false };
    const scope = { uid: phone.uid, list: 'inbox', parameters };
    const token = encodePageToken(chat.dependencies.sha256, scope, { t: 8.64e15, id });

    const response = await phone.call(`/v1/conversations?pageToken=${token}`);

    expect(await errorOf(response)).toMatchObject({ http: 400, reason: 'PAGE_TOKEN_INVALID' });
  });

  test('says by an ETag that nothing has changed', async () => {
    const { chat, phone } = await start(answering('Yes.'));
    const { id } = await phone.send('A?');
    const ask = (etag?: string) =>
      chat.call('/v1/conversations', {
        uid: phone.uid,
        ...(etag !== undefined && { headers: { 'if-none-match': etag } }),
      });
    const etag = (await ask()).headers.get('etag') ?? '';

    expect((await ask(etag)).status).toBe(304);
    await phone.post(`${id}:read`, { seq: 1 });
    expect((await ask(etag)).status).toBe(200);
  });
});

describe('what was read', () => {
  test('only grows, whichever device says it and in which order', async () => {
    const { phone } = await start(answering('Yes.'));
    const { id } = await phone.send('One?');
    await phone.send('Two?', id);
    const read = async (seq: number) => {
      const response = await phone.post(`${id}:read`, { seq });
      const { readSeq, unreadCount } = await readAs(inboxEntryResponse, response);
      return { readSeq, unreadCount };
    };

    // The second message says that the first answer was read.
    expect(await phone.list()).toMatchObject([{ readSeq: 1, unreadCount: 1 }]);
    expect(await read(2)).toEqual({ readSeq: 2, unreadCount: 0 });
    expect(await read(1)).toEqual({ readSeq: 2, unreadCount: 0 });
    expect(await read(9)).toEqual({ readSeq: 2, unreadCount: 0 });
  });

  test('counts the answers to messages that waited in a queue', async () => {
    const held = heldStreamer();
    const { phone } = await start({ model: held.model });
    const id = randomUUID();
    const first = phone.send('One?', id);
    await expect.poll(() => held.calls.length).toBe(1);
    const others = ['Two?', 'Three?'].map((text) => phone.send(text, id, { onBusy: 'queue' }));
    await expect.poll(async () => (await phone.list())[0]?.lastSeq).toBe(3);
    held.answerAll();
    await Promise.all([first, ...others]);

    expect(await phone.list()).toMatchObject([{ unreadCount: 3, lastMessage: { seq: 3 } }]);
    await phone.post(`${id}:read`, { seq: 2 });
    expect(await phone.list()).toMatchObject([{ unreadCount: 1 }]);
  });

  test('an answer that runs is not read before it has ended', async () => {
    const held = heldStreamer();
    const { chat, phone } = await start({ model: held.model });
    const id = randomUUID();
    const sent = phone.send('One?', id);
    await expect.poll(() => held.calls.length).toBe(1);
    await phone.post(`${id}:read`, { seq: 1 });
    held.answerAll();
    await sent;

    const [document] = await chat.dependencies.store.get([inboxPath(phone.uid, id)]);
    expect(document && decodeInboxEntry(document)).toMatchObject({ readSeq: 0, unread: true });
  });
});
