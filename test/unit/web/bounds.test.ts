import { expect, test } from 'vitest';
import { createFirstWords, createOutbox } from '#web/state/browser-memory.ts';
import { withPage, type TurnPages } from '#web/state/transcript.ts';

const memory = () => {
  const items = new Map<string, string>();
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  };
};

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

test('the page forgets the least recently viewed of seventeen transcript pages', () => {
  const pages = upTo(17).reduce<TurnPages>((known, page) => withPage(known, page, []), new Map());

  expect([pages.size, pages.has(0), pages.has(16)]).toEqual([16, false, true]);
});

test('the page forgets the oldest of 51 requests under way', () => {
  const outbox = createOutbox(memory());

  for (const index of upTo(51)) {
    const request = { kind: 'send', messageId: `m${index}`, text: 'Hello.' } as const;
    outbox.add({ conversationId: 'c', request });
  }

  const kept = outbox.of('c').map(({ messageId }) => messageId);
  expect([kept.length, kept[0]]).toEqual([50, 'm1']);
});

test('the page forgets the first words of the oldest of 201 untitled conversations', () => {
  const words = createFirstWords(memory());

  for (const index of upTo(201)) words.note(`c${index}`, `Hello ${index}`);

  expect([words.of('c0'), words.of('c1'), words.of('c200')]).toEqual([
    undefined,
    'Hello 1',
    'Hello 200',
  ]);
});
