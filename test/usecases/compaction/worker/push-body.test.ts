import { describe, expect, test } from 'vitest';
import { decodePush, MAX_PUSH_BYTES } from '#functions/worker/push/decode-push.ts';
import { pushOf, requestFor } from '#test/support/processes/pushing.ts';

describe('the body of a push', () => {
  test('the body of a push becomes a compaction request', () => {
    const body = Buffer.from(pushOf(requestFor('c1'), { deliveryAttempt: 3 }));

    expect(decodePush(body)).toEqual({
      kind: 'event',
      event: { schemaVersion: 1, kind: 'compact', conversationId: 'c1', requestId: 'request-1' },
      delivery: { messageId: '77', deliveryAttempt: 3 },
    });
  });

  test.each([
    { schemaVersion: 1, kind: 'compact', conversationId: 'c1', requestId: 'request-1' },
    { schemaVersion: 1, kind: 'sweep' },
    { schemaVersion: 1, kind: 'erase', conversationId: 'c1' },
  ])('the body of a push becomes an event of kind $kind', (event) => {
    const later = { ...event, more: 'of a later version' };

    expect(decodePush(Buffer.from(pushOf(later)))).toMatchObject({ kind: 'event', event });
  });

  test.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['no message', '{}'],
    ['a message without data', '{"message":{"messageId":"1"}}'],
    ['data that is no base64', '{"message":{"messageId":"1","data":"%%%"}}'],
    ['data that is no JSON', pushOf('hello')],
    ['no event', pushOf({ schemaVersion: 1, type: 'sweep' })],
    ['another kind of event', pushOf({ schemaVersion: 1, kind: 'explode' })],
    ['a sweep of a later version', pushOf({ schemaVersion: 2, kind: 'sweep' })],
    ['an erasure of nothing', pushOf({ schemaVersion: 1, kind: 'erase' })],
    ['an erasure of a path', pushOf({ schemaVersion: 1, kind: 'erase', conversationId: 'a/b' })],
    ['a later version', pushOf({ ...requestFor('c1'), schemaVersion: 2 })],
    ['an id with a slash', pushOf(requestFor('a/turns/b'))],
    ['too many bytes', pushOf({ ...requestFor('c1'), more: 'x'.repeat(MAX_PUSH_BYTES) })],
  ])('a push body with %s is malformed', (_, body) => {
    expect(decodePush(Buffer.from(body)).kind).toBe('malformed');
  });

  test('a malformed push body is logged without its values', () => {
    const decoded = decodePush(Buffer.from(pushOf({ conversationId: 'private words' })));

    expect(JSON.stringify(decoded)).not.toContain('private words');
  });
});
