import { soughtWords } from './check-erased.ts';
import {
  checkTranscripts,
  type Transcript,
  type TranscriptEntry,
  type Acknowledgement,
  hashOf,
  Ledger,
} from './check-transcripts.ts';
import { describe, expect, test } from 'vitest';

const conversationId = 'c1';

const asked = (seq: number): TranscriptEntry => ({
  id: `message-${seq}`,
  role: 'user',
  seq,
  textHash: hashOf(`question ${seq}`),
});
const answered = (seq: number): TranscriptEntry => ({
  id: `m_${seq}`,
  role: 'model',
  seq,
  textHash: hashOf(`answer ${seq}`),
});
const acknowledged = (seq: number): Acknowledgement => ({
  conversationId,
  messageId: `message-${seq}`,
  outcome: 'answered',
  seq,
  answerHash: hashOf(`answer ${seq}`),
  at: new Date(0),
});

const stored = [asked(1), answered(1), asked(2), answered(2)];
const emptied = (entry: TranscriptEntry) => ({ ...entry, textHash: hashOf('') });

/** Two messages that were sent and answered, and one that was sent. */
function twoTurns(change: (ledger: Ledger) => void = () => undefined) {
  const ledger = new Ledger();
  for (const seq of [1, 2, 3])
    ledger.send({ conversationId, messageId: `message-${seq}`, text: `question ${seq}` });
  for (const seq of [1, 2]) ledger.acknowledge(acknowledged(seq));
  change(ledger);
  return ledger;
}

const found = (ledger: Ledger, { lastSeq = 2, messages = stored }: Partial<Transcript>) =>
  checkTranscripts([{ conversationId, lastSeq, messages }], ledger).map(({ kind }) => kind);

const othersAnswer = (ledger: Ledger, isAssembled: boolean) =>
  ledger.acknowledge({ ...acknowledged(2), answerHash: hashOf('another'), isAssembled });

describe('the check of a chaos run', () => {
  test.each<[string, string[], Partial<Transcript>, ((ledger: Ledger) => void)?]>([
    ['nothing where every message and answer stands once', [], {}],
    [
      'nothing in a message without an answer yet',
      [],
      { lastSeq: 3, messages: [...stored, asked(3)] },
    ],
    [
      'an acknowledged message that is missing, and its gap',
      ['lost', 'lost'],
      { messages: stored.slice(2) },
    ],
    ['an answer that is missing', ['lost'], { messages: stored.slice(0, 3) }],
    ['two messages with one seq', ['doubled'], { messages: [...stored, { ...asked(3), seq: 2 }] }],
    [
      'a message that became two turns',
      ['doubled', 'mismatched'],
      { lastSeq: 3, messages: [...stored, { ...asked(2), seq: 3 }] },
    ],
    [
      'a text other than the one that was sent',
      ['mismatched'],
      { messages: [{ ...asked(1), textHash: 'other' }, ...stored.slice(1)] },
    ],
    [
      'a message that nobody sent',
      ['mismatched'],
      { lastSeq: 3, messages: [...stored, { ...asked(3), id: 'unknown' }] },
    ],
    [
      'another answer than the phone was told',
      ['mismatched'],
      {},
      (ledger) => othersAnswer(ledger, false),
    ],
    [
      'a stream that was put together wrongly',
      ['torn'],
      {},
      (ledger) => othersAnswer(ledger, true),
    ],
    [
      'a message that is stored, and was refused for good',
      ['refused'],
      { lastSeq: 3, messages: [...stored, asked(3)] },
      (ledger) => ledger.acknowledge({ ...acknowledged(3), outcome: 'failed', reason: 'R' }),
    ],
    [
      'a turn that a stream named and that is not there',
      ['lost'],
      {},
      (ledger) => ledger.promised.set('message-3', 3),
    ],
    [
      'a deleted message that is not empty',
      ['mismatched', 'mismatched'],
      {},
      (ledger) => ledger.deleted.set('message-1', 'told'),
    ],
  ])('a chaos run finds %s', (_, kinds, transcript, change) => {
    expect(found(twoTurns(change), transcript)).toEqual(kinds);
  });

  test('a chaos run wants a deleted message empty once its phone was told so, and an erased conversation gone', () => {
    const deleting = twoTurns((ledger) => ledger.deleted.set('message-1', 'asked'));
    const erased = twoTurns((ledger) => ledger.erase(conversationId, 'uid'));
    const messages = stored.map((entry) => (entry.seq === 1 ? emptied(entry) : entry));

    expect(found(deleting, {})).toEqual([]);
    expect(found(deleting, { messages })).toEqual([]);
    expect(checkTranscripts([], erased)).toEqual([]);
  });

  test('a chaos run seeks the words of what was erased, unless another message has them', () => {
    const word = 'ORD-12345678901';
    const ledger = twoTurns((each) => each.erased.set(conversationId, { uid: 'u', state: 'told' }));
    ledger.canaries.set('message-1', [word]);
    expect([...soughtWords(ledger).keys()]).toEqual([word]);

    ledger.send({ conversationId: 'c2', messageId: 'm2', text: word });
    ledger.canaries.set('m2', [word]);

    expect(soughtWords(ledger).size).toBe(0);
  });
});
