import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newUser, png, startAttaching, type AttachingWorld } from '#test/support/chat/attaching.ts';
import { errorOf } from '#test/support/chat/chat-server.ts';

/** Uploads that no message may name; `world` is the one that the file has started. */
export function refusesUploads(world: () => AttachingWorld): void {
  describe('an upload is refused', () => {
    test.each([
      ['another user’s', () => world().upload(png(), newUser())],
      ['one that is unknown', () => Promise.resolve(randomUUID())],
      ['one whose bytes were never sent', async () => (await world().begin(png())).uploadId],
    ])('an upload named by a message as %s gives the same 404', async (_, given) => {
      const uploadId = await given();
      const conversationId = randomUUID();

      const response = await world().send({ conversationId, uploadIds: [uploadId] });

      const error = await errorOf(response);
      expect(error).toMatchObject({ http: 404, reason: 'UPLOAD_NOT_FOUND' });
      expect(error.message).toMatch(/^You have no uploaded file under this id\. /);
      expect(error.metadata).toEqual({ uploadId });
      const conversation = await world().chat.call(`/v1/conversations/${conversationId}`);
      expect(conversation.status).toBe(404);
    });

    test('an upload whose bytes do not match its type is refused', async () => {
      const page = new TextEncoder().encode('<!doctype html><script>alert(1)</script>');
      const uploadId = await world().upload({ bytes: page, mimeType: 'image/png' });

      const response = await world().send({ conversationId: randomUUID(), uploadIds: [uploadId] });

      expect(await errorOf(response)).toMatchObject({
        http: 400,
        reason: 'UPLOAD_TYPE_MISMATCH',
        message: expect.stringContaining('image/png of 40 bytes'),
      });
    });

    test('a message’s uploads of more than 20 MB together are refused', async () => {
      const size = 11 * 1_024 * 1_024;
      const uploadIds = await Promise.all([world().upload(png(size)), world().upload(png(size))]);

      const response = await world().send({ conversationId: randomUUID(), uploadIds });

      expect(await errorOf(response)).toMatchObject({ http: 400, reason: 'FILES_TOO_LARGE' });
    });
  });
}

/** What no call may begin, and in which forms no message may name it. */
export function refusesToBegin(world: () => AttachingWorld): void {
  describe('an upload is not begun, nor named', () => {
    test.each([
      ['a GIF', { mimeType: 'image/gif', sizeBytes: 10 }, 'mimeType'],
      ['a program', { mimeType: 'application/x-msdownload', sizeBytes: 10 }, 'mimeType'],
      ['21 MB', { mimeType: 'image/png', sizeBytes: 21 * 1_024 * 1_024 }, 'sizeBytes'],
      ['no bytes', { mimeType: 'image/png', sizeBytes: 0 }, 'sizeBytes'],
      ['a name of two lines', { mimeType: 'image/png', sizeBytes: 1, name: 'a\nb' }, 'name'],
    ])('an upload is refused at its start with %s', async (_, body, field) => {
      const response = await world().chat.call('/v1/uploads', { body });

      const { http, reason, metadata } = await errorOf(response);
      expect({ http, reason, field: metadata.field }).toEqual({
        http: 400,
        reason: 'BAD_FIELD',
        field,
      });
    });

    test.each([
      ['with a media type as well', { mediaType: 'image/png' }],
      ['with data as well', { data: 'aGk=' }],
      ['as an address of the bucket', { uploadId: undefined, url: 'gs://recap-uploads/x' }],
      ['as an address of ours', { uploadId: undefined, url: 'upload:x', mediaType: 'image/png' }],
    ])('an upload is refused where it is named %s', async (_, more) => {
      const part = { type: 'file', uploadId: randomUUID(), ...more };
      const body = { message: { id: randomUUID(), parts: [part] } };

      const response = await world().chat.call(`/v1/conversations/${randomUUID()}/messages`, {
        body,
      });

      expect((await errorOf(response)).http).toBe(400);
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
}
