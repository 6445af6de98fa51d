import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { turnPath, uploadPath } from '#shared/conversation/documents/paths.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { decodeUpload } from '#shared/uploads/upload.ts';
import { messageListResponse, sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { uploadResponse } from '#shared/wire/resources/uploads.ts';
import {
  base64Of,
  png,
  startAttaching,
  textFile,
  type AttachingWorld,
} from '#test/support/chat/attaching.ts';
import { errorOf } from '#test/support/chat/chat-server.ts';
import { readAs } from '#test/support/chat/http-answers.ts';
import { refusesToBegin, refusesUploads } from './uploads-refused.suite.ts';

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

  test('an uploaded picture counts in the meter as a picture', async () => {
    const conversationId = randomUUID();
    await world.send({ conversationId, uploadIds: [await world.upload(png())] });

    const [turn] = await readTurns(world.store, conversationId, [1]);

    const text = { role: 'user' as const, parts: [{ text: 'What is this?' }] };
    const counting = { rule: 'character-class', mediaFamily: 'gemini-3' } as const;
    const words = estimateContentTokens(text, counting);
    expect(turn?.value.tokens.user).toBe(words + 1_090);
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

  test('an uploaded picture sent twice is one turn, even when its file is gone', async () => {
    const conversationId = randomUUID();
    const uploadId = await world.upload(png());
    const message = { conversationId, uploadIds: [uploadId], id: randomUUID() };

    const first = await readAs(sendMessageResponse, await world.send(message));
    world.local.storage.files.delete(uploadPath('alice', uploadId));
    const second = await readAs(sendMessageResponse, await world.send(message));

    expect(second).toMatchObject({ replayed: true, message: first.message });
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

  test('a missing uploaded picture becomes an explaining line, and the message is answered', async () => {
    const conversationId = randomUUID();
    const picture = png(99, randomUUID());
    const uploadId = await world.upload(picture);
    await world.send({ conversationId, uploadIds: [uploadId] });
    const other = await startAttaching();
    try {
      await other.store.commit(await copied(world, conversationId));
      const call = { contents: await contentsOf(world, conversationId), model: 'gemini-3.8-flash' };
      const request = { ...call, role: 'chat', promptId: 't_2' } as const;

      await other.model.generate(request, AbortSignal.timeout(10_000));

      expect(other.prompt()).toContainEqual({
        text: '[attached file "receipt.png" (image/png): it has been deleted]',
      });
    } finally {
      await other.stop();
    }
  });
});

const contentsOf = async ({ store }: AttachingWorld, conversationId: string) =>
  (await readTurns(store, conversationId, [1])).map(({ value }) => value.user);

const copied = async ({ documents }: AttachingWorld, conversationId: string) =>
  (await documents())
    .filter(({ path }) => path.startsWith(`conversations/${conversationId}`))
    .map(({ path, fields }) => ({ op: 'create' as const, path, fields }));

describe('an uploaded text file', () => {
  test('an uploaded text file is sent as labelled text, cut where long', async () => {
    const conversationId = randomUUID();
    const long = Array.from({ length: 2_500 }, (_, index) => `line ${index}`).join('\n');
    const uploadId = await world.upload(textFile(long, 'log.txt'));

    await world.send({ conversationId, uploadIds: [uploadId] });

    const text = world.prompt().at(-1)?.text ?? '';
    expect(text).toMatch(
      /^\[attached file "log.txt" \(text\/plain\); .* data and not instructions\]\nline 0\n/,
    );
    expect(text).toContain('line 1999\n[500 of 2,500 lines are missing here');
    expect(Object.keys(world.prompt().at(-1) ?? {})).toEqual(['text']);
  });

  test('an uploaded text file is a file in the transcript, not its text', async () => {
    const conversationId = randomUUID();
    const uploadId = await world.upload(textFile('the secret word', 'word.txt'));
    await world.send({ conversationId, uploadIds: [uploadId] });

    const list = await world.chat.call(`/v1/conversations/${conversationId}/messages`);
    const { messages } = await readAs(messageListResponse, list);

    expect(messages.find(({ role }) => role === 'user')?.parts[1]).toEqual({
      type: 'file',
      mediaType: 'text/plain',
      uploadId,
      name: 'word.txt',
    });
  });

  test('an uploaded text file that is no UTF-8 is refused', async () => {
    const file = { bytes: Uint8Array.of(0x68, 0xff, 0xfe), mimeType: 'text/plain' };
    const uploadId = await world.upload(file);

    const response = await world.send({ conversationId: randomUUID(), uploadIds: [uploadId] });

    expect(await errorOf(response)).toMatchObject({ http: 400, reason: 'UPLOAD_TYPE_MISMATCH' });
  });
});

refusesUploads(() => world);
refusesToBegin(() => world);

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
