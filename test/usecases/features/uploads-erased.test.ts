import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { eraseConversation } from '#functions/worker/push/erase-conversation.ts';
import { uploadPath, uploadsCollection } from '#shared/conversation/documents/paths.ts';
import { conversationResponse } from '#shared/wire/resources/conversations.ts';
import { exportLineResponse } from '#shared/wire/resources/export.ts';
import { base64Of, newUser, png, startAttaching } from '#test/support/chat/attaching.ts';
import { neverAborted } from '#test/support/compaction/compacted-conversation.ts';
import { readAs } from '#test/support/chat/http-answers.ts';
import { dyingAt } from '#test/support/chat/lifecycle.ts';

const world = await startAttaching();
afterAll(() => world.stop());

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
const serve = (conversationId: string, atCrashPoint = world.chat.dependencies.atCrashPoint) =>
  eraseConversation({ ...world.chat.dependencies, atCrashPoint }, conversationId, neverAborted());

describe('the files of a message that is deleted', () => {
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

  test('the files of a message stay when its answer alone is deleted', async () => {
    const { uid, conversationId, uploadId } = await sent();

    await remove(uid, `${conversationId}/messages/m_1`);

    expect(files(uid)).toEqual([uploadPath(uid, uploadId)]);
  });

  test('deleting a message’s files leaves other messages’ files, sent or not', async () => {
    const { uid, conversationId, id } = await sent();
    const kept = await sent(uid);
    const unsent = await world.upload(png(), uid);

    await remove(uid, `${conversationId}/messages/${id}`);

    const left = [kept.uploadId, unsent].map((uploadId) => uploadPath(uid, uploadId));
    expect(files(uid)).toEqual(left.toSorted());
  });
});

describe('the files of a conversation that is erased', () => {
  test('the files of an erased conversation are deleted', async () => {
    const { uid, conversationId } = await sent();

    await remove(uid, `${conversationId}?permanent=true`);
    await serve(conversationId);

    expect(files(uid)).toEqual([]);
    expect(await notes(uid)).toEqual([]);
  });

  test.each(['erase-begun', 'erase-pass-done', 'erase-uploads-released'])(
    'the files of an erased conversation are deleted after a crash at %s too',
    async (point) => {
      const { uid, conversationId } = await sent();
      await remove(uid, `${conversationId}?permanent=true`);

      await expect(serve(conversationId, dyingAt(point).atCrashPoint)).rejects.toThrow('died at');
      await serve(conversationId);

      expect(files(uid)).toEqual([]);
    },
  );

  test('the files of an erased conversation are deleted when the bucket recovers', async () => {
    const { uid, conversationId } = await sent();
    await remove(uid, `${conversationId}?permanent=true`);
    world.local.storage.fail('DELETE', 503, 2);

    await expect(serve(conversationId)).rejects.toMatchObject({ reason: 'FILES_UNAVAILABLE' });
    await serve(conversationId);

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
});

describe('a user who is erased', () => {
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

  test('repeating a failed user erasure leaves no file', async () => {
    const { uid } = await sent();
    world.local.storage.fail('DELETE', 503, 2);

    const failed = await erase(uid);
    const again = await erase(uid);

    expect([failed.status, again.status]).toEqual([503, 202]);
    expect(files(uid)).toEqual([]);
  });
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
