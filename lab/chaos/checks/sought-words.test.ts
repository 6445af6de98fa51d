import { describe, expect, test } from 'vitest';
import { soughtWords } from './check-erased.ts';
import { compareExport } from '../phones/export-action.ts';
import { hashOf, Ledger } from './ledger.ts';
import { canariesIn } from '../phones/message-text.ts';
import { Tally } from './tally.ts';

const word = 'ORD-12345678901';

/** One message with one word in the erased conversation `c1`. */
function erasedConversation() {
  const ledger = new Ledger();
  ledger.send({ conversationId: 'c1', messageId: 'm1', text: `order ${word}` });
  ledger.canaries.set('m1', [word]);
  ledger.erased.set('c1', { uid: 'u', state: 'told' });
  return ledger;
}

describe('the words that must stand nowhere', () => {
  test('are those of an erased conversation', () => {
    expect([...soughtWords(erasedConversation()).keys()]).toEqual([word]);
  });

  test('are not those of a conversation whose erasure nobody confirmed', () => {
    const ledger = erasedConversation();
    ledger.erased.set('c1', { uid: 'u', state: 'asked' });

    expect(soughtWords(ledger).size).toBe(0);
  });

  test('are not those of a message that a fork has', () => {
    const ledger = erasedConversation();
    ledger.copied.add('m1');

    expect(soughtWords(ledger).size).toBe(0);
  });

  test('are not those that another message has too', () => {
    const ledger = erasedConversation();
    ledger.send({ conversationId: 'c2', messageId: 'm2', text: `order ${word}` });
    ledger.canaries.set('m2', [word]);

    expect(soughtWords(ledger).size).toBe(0);
  });

  test('are those of a deleted message', () => {
    const ledger = new Ledger();
    ledger.send({ conversationId: 'c1', messageId: 'm1', text: `order ${word}` });
    ledger.canaries.set('m1', [word]);
    ledger.deleted.set('c1/m1', 'told');

    expect(soughtWords(ledger).get(word)?.fate).toBe('deleted');
  });
});

describe('words of a chat', () => {
  test('are found in a text', () => {
    const answer = 'Answer 0b8f7a52-9d0e-4f0a-8a51-3f1f3f0a9c11';

    expect(canariesIn(`{"text":"${word} … ${answer}, attempt 1."}`)).toEqual([word, answer]);
  });

  test('are noted when a log has them', () => {
    const tally = new Tally();

    tally.readLine(`{"severity":"INFO","text":"${word}"}`);
    tally.readLine('{"severity":"INFO","event":"request"}');

    expect(tally.leaks).toHaveLength(1);
  });
});

describe('the comparison of an export', () => {
  const entry = (id: string, text = id) => ({
    id,
    role: 'user' as const,
    seq: 1,
    textHash: hashOf(text),
  });
  const transcript = (...messages: ReturnType<typeof entry>[]) => ({
    conversationId: 'c1',
    lastSeq: 2,
    messages,
  });

  test('finds nothing where a message came while it was read', () => {
    const [before, after] = [transcript(entry('a')), transcript(entry('a'), entry('b'))];

    expect(compareExport([entry('a')], { before, after })).toEqual([]);
    expect(compareExport([entry('a'), entry('b')], { before, after })).toEqual([]);
  });

  test.each([
    ['is missing', [entry('b')], 'a is missing in the export'],
    [
      'has another text',
      [entry('a', 'else'), entry('b')],
      'a is another in the export than in the transcript',
    ],
    ['stands twice', [entry('a'), entry('b'), entry('b')], 'a message stands twice in the export'],
  ])('finds a message that %s', (_case, found, problem) => {
    const whole = transcript(entry('a'), entry('b'));

    expect(compareExport(found, { before: whole, after: whole })).toEqual([problem]);
  });
});
