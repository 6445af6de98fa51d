import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createNotification, type NotificationText } from '#shared/notification/notification.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const answer = {
  contents: [{ role: 'model' as const, parts: [{ text: 'At  nine.\n\nAt pier 2.' }] }],
};
const turn = { conversationId: 'c1', seq: 3, state: 'done', title: 'The ferry', answer } as const;
const shown = (text: NotificationText, locale?: string) => ({
  text,
  fallbackTitle: 'Boats',
  locale,
  sha256,
});
const textsOf = ({ title, body }: { title: string; body: string }) => [title, body];

describe('a notification', () => {
  test.each<[NotificationText, string[]]>([
    ['none', ['Boats', 'Your answer is ready.']],
    ['title', ['The ferry', 'Your answer is ready.']],
    ['preview', ['The ferry', 'At nine. At pier 2.']],
  ])('a notification shows what %s says of a conversation', (text, texts) => {
    expect(textsOf(createNotification(turn, shown(text)))).toEqual(texts);
  });

  test('a notification cuts no emoji in two', () => {
    const family = '👩‍👩‍👧';
    const long = { contents: [{ role: 'model' as const, parts: [{ text: family.repeat(40) }] }] };

    const { body } = createNotification({ ...turn, answer: long }, shown('preview'));

    expect(body).toBe(`${family.repeat(14)}…`);
  });

  test.each([
    ['ko-KR', '답변이 준비되었습니다.'],
    ['zh_Hant', '您的回答已准备好。'],
    ['tlh', 'Your answer is ready.'],
    [undefined, 'Your answer is ready.'],
  ])('a notification is written in %s', (locale, body) => {
    expect(createNotification(turn, shown('title', locale)).body).toBe(body);
  });

  test.each([['ko', '답변을 이어가려면 앱이 필요합니다. 채팅을 열어 계속하세요.']])(
    'a notification of a waiting turn says so in %s, without message text',
    (locale, body) => {
      const waiting = { ...turn, state: 'awaiting_tool', waitsForMs: 90_500 } as const;

      const told = createNotification(waiting, shown('preview', locale));

      expect(told).toMatchObject({ title: 'The ferry', body, ttlSeconds: 91 });
      expect(told.data).toMatchObject({ type: 'turn.waiting', state: 'awaiting_tool' });
    },
  );

  test('a notification has one key per conversation, valid on every platform', () => {
    const other = createNotification({ ...turn, seq: 4 }, shown('title'));
    const { collapseKey } = createNotification(turn, shown('title'));

    expect(collapseKey).toMatch(/^[0-9a-f]{32}$/);
    expect(other.collapseKey).toBe(collapseKey);
    expect(other.data).toMatchObject({ turnId: 't_4', messageId: 'm_4' });
  });
});
