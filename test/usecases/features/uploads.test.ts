import { eraseConversation } from '#functions/erasure/erase-conversation.ts';
import { turnPath, uploadPath, uploadsCollection } from '#shared/conversation/documents/paths.ts';
import { decodeUpload } from '#shared/uploads/upload.ts';
import { conversationResponse } from '#shared/wire/resources/conversations.ts';
import { exportLineResponse } from '#shared/wire/resources/export.ts';
import { messageListResponse } from '#shared/wire/resources/messages.ts';
import { uploadResponse } from '#shared/wire/resources/uploads.ts';
import { base64Of, png, startAttaching, newUser } from '#test/support/chat/attaching.ts';
import { errorOf, readAs } from '#test/support/chat/chat-server.ts';
import { neverAborted } from '#test/support/compaction/compacted-conversation.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';

const world = await startAttaching();
afterAll(() => world.stop());

const inline = (file: ReturnType<typeof png>) => ({
  inlineData: { mimeType: file.mimeType, data: base64Of(file) },
});

describe('an uploaded picture in a message', () => {
  test('an uploaded picture reaches the model byte by byte, the store as a reference', async () => {
    const conversationId = randomUUID();
    const picture = png(300_000, 'byte by byte');
    const uploadId = await world.upload(picture);

    const response = await world.send({ conversationId, uploadIds: [uploadId] });

    expect(response.status).toBe(200);
    expect(world.prompt().at(-1)).toEqual(inline(picture));
    const [turn] = await world.store.get([turnPath(conversationId, 1)]);
    expect(JSON.stringify(turn?.fields).length).toBeLessThan(3_000);
  });

  test('an uploaded picture is shown in the transcript by id and readable address', async () => {
    const conversationId = randomUUID();
    const picture = png(99, 'transcript');
    const uploadId = await world.upload(picture);
    await world.send({ conversationId, uploadIds: [uploadId] });

    const list = await world.chat.call(`/v1/conversations/${conversationId}/messages`);
    const { messages } = await readAs(messageListResponse, list);
    const read = await world.chat.call(`/v1/uploads/${uploadId}`);
    const { url, ...upload } = await readAs(uploadResponse, read);

    const part = { type: 'file', mediaType: 'image/png', uploadId, name: 'receipt.png' };
    expect(messages.find(({ role }) => role === 'user')?.parts[1]).toEqual(part);
    expect(upload).toMatchObject({ uploadId, mimeType: 'image/png', sizeBytes: 99 });
    const bytes = await (await fetch(url)).bytes();
    expect(Buffer.from(bytes).equals(picture.bytes)).toBe(true);
  });

  test('an uploaded picture is sent with every later message, read once', async () => {
    const conversationId = randomUUID();
    const picture = png(99, 'again');
    await world.send({ conversationId, uploadIds: [await world.upload(picture)] });
    world.local.storage.fail('GET', 500, 2);

    const response = await world.send({ conversationId, uploadIds: [], text: 'And now?' });
    // Takes the faults that the cache has spared.
    await fetch(world.local.storage.url);
    await fetch(world.local.storage.url);

    expect(response.status).toBe(200);
    expect(world.prompt()).toContainEqual(inline(picture));
  });

  test('a sent upload no longer expires, in the store nor in the bucket', async () => {
    const conversationId = randomUUID();
    const uploadId = await world.upload(png());
    const path = uploadPath('alice', uploadId);
    const read = async () => {
      const [document] = await world.store.get([path]);
      return document && decodeUpload(document);
    };

    const before = await read();
    await world.send({ conversationId, uploadIds: [uploadId] });

    expect(before?.expireTime).toBeInstanceOf(Date);
    expect(await read()).toMatchObject({ turns: { [`${conversationId}_t_1`]: true } });
    expect((await read())?.expireTime).toBeUndefined();
    expect(world.local.storage.files.get(path)?.customTime).toMatch(/^2999/);
  });

  test('an uploaded picture stays with an edit naming it and a regenerated answer', async () => {
    const conversationId = randomUUID();
    const picture = png(99, 'edited');
    const uploadId = await world.upload(picture);
    const id = randomUUID();
    await world.send({ conversationId, uploadIds: [uploadId], id });

    const edited = await world.send({ conversationId, uploadIds: [uploadId], path: `/${id}:edit` });
    const shownFirst = world.prompt();
    const path = `/v1/conversations/${conversationId}/messages/m_2:regenerate`;
    const regenerated = await world.chat.call(path, { body: {} });

    expect([edited.status, regenerated.status]).toEqual([200, 200]);
    expect(shownFirst.at(-1)).toEqual(inline(picture));
    expect(world.prompt().at(-1)).toEqual(inline(picture));
    const [document] = await world.store.get([uploadPath('alice', uploadId)]);
    const turns = [1, 2, 3].map((seq) => `${conversationId}_t_${seq}`);
    expect(Object.keys((document && decodeUpload(document)?.turns) ?? {}).toSorted()).toEqual(
      turns,
    );
  });
});

test('a bucket that is down fails the message, and a resend succeeds later', async () => {
  const conversationId = randomUUID();
  const uploadIds = [await world.upload(png(99, 'down'))];
  const message = { conversationId, uploadIds, id: randomUUID() };
  world.local.storage.fail('GET', 503, 2);

  const failed = await errorOf(await world.send(message));
  const again = await world.send(message);

  expect(failed).toMatchObject({ http: 503, reason: 'FILES_UNAVAILABLE' });
  expect(again.status).toBe(200);
});

test.each([
  ['another user’s', () => world.upload(png(), newUser())],
  ['one that is unknown', () => Promise.resolve(randomUUID())],
  ['one whose bytes were never sent', async () => (await world.begin(png())).uploadId],
])('an upload named by a message as %s gives the same 404', async (_, given) => {
  const uploadId = await given();
  const conversationId = randomUUID();

  const response = await world.send({ conversationId, uploadIds: [uploadId] });

  const error = await errorOf(response);
  expect(error).toMatchObject({ http: 404, reason: 'UPLOAD_NOT_FOUND' });
  expect(error.message).toMatch(/^You have no uploaded file under this id\. /);
  expect(error.metadata).toEqual({ uploadId });
  const conversation = await world.chat.call(`/v1/conversations/${conversationId}`);
  expect(conversation.status).toBe(404);
});

test.each([
  ['image/png', Buffer.from('<!doctype html><script>alert(1)</script>')],
  ['text/plain', Buffer.from('h\xff\xfe', 'latin1')],
])('an upload whose bytes are not the %s that it says is refused', async (mimeType, bytes) => {
  const uploadId = await world.upload({ bytes, mimeType });

  const response = await world.send({ conversationId: randomUUID(), uploadIds: [uploadId] });

  expect(await errorOf(response)).toMatchObject({
    http: 400,
    reason: 'UPLOAD_TYPE_MISMATCH',
    message: expect.stringContaining(`${mimeType} of ${bytes.length} bytes`),
  });
});

test('a message’s uploads of more than 20 MB together are refused', async () => {
  const size = 11 * 1_024 * 1_024;
  const uploadIds = await Promise.all([world.upload(png(size)), world.upload(png(size))]);

  const response = await world.send({ conversationId: randomUUID(), uploadIds });

  expect(await errorOf(response)).toMatchObject({ http: 400, reason: 'FILES_TOO_LARGE' });
});

describe('an upload is not begun, nor named', () => {
  test.each([
    ['a GIF', { mimeType: 'image/gif', sizeBytes: 10 }, 'mimeType'],
    ['21 MB', { mimeType: 'image/png', sizeBytes: 21 * 1_024 * 1_024 }, 'sizeBytes'],
    ['a name of two lines', { mimeType: 'image/png', sizeBytes: 1, name: 'a\nb' }, 'name'],
  ])('an upload is refused at its start with %s', async (_, body, field) => {
    const response = await world.chat.call('/v1/uploads', { body });

    const { http, reason, metadata } = await errorOf(response);
    expect({ http, reason, field: metadata.field }).toEqual({
      http: 400,
      reason: 'BAD_FIELD',
      field,
    });
  });

  test('uploads over the daily number are refused', async () => {
    const limited = await startAttaching({ USER_DAILY_UPLOADS: '2' });
    try {
      const [one, two] = [newUser(), newUser()];
      for (const uid of [one, one, two]) await limited.begin(png(), uid);

      const body = { mimeType: 'image/png', sizeBytes: 1 };
      const third = await limited.chat.call('/v1/uploads', { body, uid: one });
      const others = await limited.chat.call('/v1/uploads', { body, uid: two });

      expect(await errorOf(third)).toMatchObject({ http: 429, reason: 'USER_DAILY_UPLOADS' });
      expect(others.status).toBe(201);
    } finally {
      await limited.stop();
    }
  });
});

/** The files of a user that stand in the bucket. */
const files = (uid: string) =>
  [...world.local.storage.files.keys()]
    .filter((name) => name.startsWith(`${uploadsCollection(uid)}/`))
    .toSorted();
/** Ids of the notes about a user's uploads that stand in the store. */
const notes = async (uid: string) =>
  (await world.documents()).filter(({ path }) => path.startsWith(uploadsCollection(uid)));

/** A user with a picture in a message of their own. */
async function sent(uid = newUser()) {
  const [conversationId, id] = [randomUUID(), randomUUID()];
  const uploadId = await world.upload(png(99, randomUUID()), uid);
  await world.send({ conversationId, uploadIds: [uploadId], id, uid });
  return { uid, conversationId, id, uploadId };
}

const remove = (uid: string, path: string) =>
  world.chat.call(`/v1/conversations/${path}`, { method: 'DELETE', uid });

/** Does what the erase event of a conversation asks for. */
const serve = (conversationId: string) =>
  eraseConversation(world.chat.dependencies, conversationId, neverAborted());

test('the files of a deleted message are deleted with their notes', async () => {
  const { uid, conversationId, id } = await sent();

  const response = await remove(uid, `${conversationId}/messages/${id}`);

  expect(response.status).toBe(200);
  expect(files(uid)).toEqual([]);
  expect(await notes(uid)).toEqual([]);
});

test('a deleted message’s files stay while another message names them', async () => {
  const { uid, conversationId, id, uploadId } = await sent();
  const [other, otherId] = [randomUUID(), randomUUID()];
  await world.send({ conversationId: other, uploadIds: [uploadId], id: otherId, uid });

  await remove(uid, `${conversationId}/messages/${id}`);
  const between = files(uid);
  await remove(uid, `${other}/messages/${otherId}`);

  expect(between).toEqual([uploadPath(uid, uploadId)]);
  expect(files(uid)).toEqual([]);
});

test('the files of an erased conversation live on in a fork', async () => {
  const { uid, conversationId, uploadId } = await sent();
  const picture = await world.local.bucket.read(uploadPath(uid, uploadId), { maxBytes: 1_000 });
  const body = { messageId: 'm_1' };
  const path = `/v1/conversations/${conversationId}:fork`;
  const fork = await readAs(conversationResponse, await world.chat.call(path, { body, uid }));
  await remove(uid, `${conversationId}?permanent=true`);
  await serve(conversationId);

  await world.send({ conversationId: fork.id, uploadIds: [], text: 'Still there?', uid });
  const shown = world.prompt();
  await remove(uid, `${fork.id}?permanent=true`);
  await serve(fork.id);

  const data = base64Of({ bytes: picture ?? new Uint8Array(), mimeType: 'image/png' });
  expect(shown).toContainEqual({ inlineData: { mimeType: 'image/png', data } });
  expect(files(uid)).toEqual([]);
});

const erase = (uid: string) => world.chat.call('/v1/users/me:erase', { method: 'POST', uid });

test('erasing a user leaves no file, and no other user loses one', async () => {
  const { uid } = await sent();
  await world.upload(png(), uid);
  await world.begin(png(), uid);
  const other = await sent();

  const response = await erase(uid);

  expect(response.status).toBe(202);
  expect(files(uid)).toEqual([]);
  expect(await notes(uid)).toEqual([]);
  expect(files(other.uid)).toHaveLength(1);
});

test('an export lists the uploads, each with a readable address', async () => {
  const { uid, uploadId } = await sent();

  const response = await world.chat.call('/v1/users/me:export', { method: 'POST', uid });
  const lines = (await response.text())
    .trim()
    .split('\n')
    .map((line) => exportLineResponse.parse(JSON.parse(line)));

  const [upload] = lines.filter((line) => line.type === 'upload');
  expect(lines.map(({ type }) => type)).toEqual(['upload', 'conversation', 'message', 'message']);
  expect(upload).toMatchObject({ uploadId, name: 'receipt.png', sizeBytes: 99 });
  expect((await fetch(upload?.url ?? '')).status).toBe(200);
});
