import { describe, expect, test } from 'vitest';
import { checkTranscript, type TranscriptMessage } from './transcript-check.ts';

const conversation: TranscriptMessage[] = [1, 2, 3, 4].flatMap((n) => [
  { id: `u${n}`, role: 'user', text: `question ${n}` },
  { id: `m_${n}`, role: 'model', text: `answer ${n}` },
]);

const kindsAndIds = (stored: readonly TranscriptMessage[]) =>
  checkTranscript(conversation, stored).map(({ kind, message }) => `${kind} ${message.id}`);

describe('checkTranscript', () => {
  test('finds nothing when every message stands there once, in order', () => {
    expect(kindsAndIds(conversation)).toEqual([]);
  });

  test.each(conversation.map(({ id }) => id))('finds that %s is missing', (id) => {
    expect(kindsAndIds(conversation.filter((message) => message.id !== id))).toEqual([
      `missing ${id}`,
    ]);
  });

  test('finds everything missing in an empty transcript', () => {
    expect(kindsAndIds([])).toHaveLength(conversation.length);
  });

  test('finds the one message that was moved, not those around it', () => {
    const [first, ...others] = conversation;

    expect(kindsAndIds([...others, ...(first ? [first] : [])])).toEqual(['out-of-order u1']);
  });

  test('finds two messages that changed places', () => {
    const swapped = conversation
      .with(2, conversation[3] ?? never())
      .with(3, conversation[2] ?? never());

    expect(kindsAndIds(swapped)).toHaveLength(1);
  });

  test('finds an altered text and says what is there instead', () => {
    const stored = conversation.with(3, { id: 'm_2', role: 'model', text: 'answer 2!' });

    expect(checkTranscript(conversation, stored)).toEqual([
      { kind: 'altered', message: conversation[3], found: 'answer 2!' },
    ]);
  });

  test('finds an answer that is stored under the wrong role', () => {
    const stored = conversation.with(1, { id: 'm_1', role: 'user', text: 'answer 1' });

    expect(kindsAndIds(stored)).toEqual(['altered m_1']);
  });

  test('finds a message that nobody sent', () => {
    const stored = [...conversation, { id: 'x', role: 'user' as const, text: 'hello' }];

    expect(kindsAndIds(stored)).toEqual(['unexpected x']);
  });

  test('finds a message that stands there twice', () => {
    const stored = [...conversation, conversation[1] ?? never()];

    expect(kindsAndIds(stored)).toEqual(['twice m_1']);
  });
});

function never(): never {
  throw new Error('the conversation of this test has eight messages');
}
