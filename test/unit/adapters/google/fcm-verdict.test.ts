import { expect, test } from 'vitest';
import { fcmVerdict, type FcmVerdict } from '#functions/adapters/fcm.ts';

const now = new Date('2026-01-02T03:04:05.000Z');

const errorOf = (message: string, details: object[] = []) =>
  JSON.stringify({ error: { message, details } });
const coded = (errorCode: string) => errorOf('Refused.', [{ '@type': 'FcmError', errorCode }]);
const violating = (field: string) =>
  errorOf('Invalid value.', [{ '@type': 'BadRequest', fieldViolations: [{ field }] }]);

test.each<[string, number, string, FcmVerdict]>([
  ['a success', 200, '{"name":"projects/p/messages/1"}', { kind: 'sent' }],
  ['an installation that has gone', 404, coded('UNREGISTERED'), { kind: 'gone' }],
  ['a token that is none', 400, violating('message.token'), { kind: 'gone' }],
  [
    'a token that is none, in words',
    400,
    errorOf('The registration token is not a valid FCM registration token'),
    { kind: 'gone' },
  ],
  [
    'a message that is wrong elsewhere',
    400,
    violating('message.android.ttl'),
    { kind: 'refused', code: 'HTTP_400' },
  ],
  [
    'a token of another project',
    403,
    coded('SENDER_ID_MISMATCH'),
    { kind: 'refused', code: 'SENDER_ID_MISMATCH' },
  ],
  [
    'a project that is not there',
    404,
    errorOf('Not found.'),
    { kind: 'refused', code: 'HTTP_404' },
  ],
  ['an access token that is not taken', 401, '', { kind: 'unauthenticated' }],
  ['a quota', 429, coded('QUOTA_EXCEEDED'), { kind: 'later', retryAfterMs: 60_000 }],
  ['an outage', 503, '<html>', { kind: 'later', retryAfterMs: undefined }],
  ['a failure of Google', 500, coded('INTERNAL'), { kind: 'later', retryAfterMs: undefined }],
])('the FCM verdict: %s', (...[, status, body, verdict]) => {
  expect(fcmVerdict({ status, body, retryAfter: null }, now)).toEqual(verdict);
});

test.each([
  ['seconds', '30', 30_000],
  ['a date', 'Fri, 02 Jan 2026 03:05:05 GMT', 60_000],
  ['a date that has passed', 'Fri, 02 Jan 2026 03:00:00 GMT', 0],
  ['a day, which is cut', '86400', 600_000],
  ['what is neither', 'soon', undefined],
])('an FCM retry waits as Retry-After says in %s', (_, retryAfter, retryAfterMs) => {
  expect(fcmVerdict({ status: 503, body: '', retryAfter }, now)).toEqual({
    kind: 'later',
    retryAfterMs,
  });
});
