import { describe, expect, test } from 'vitest';
import { checkTranscripts, type Transcript, type TranscriptEntry } from './check-transcripts.ts';
import { type Acknowledgement, type Finding, hashOf, Ledger } from './ledger.ts';

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

/** Two messages that were sent and answered. */
function twoTurns() {
  const ledger = new Ledger();
  for (const seq of [1, 2]) {
    ledger.send({ conversationId, messageId: `message-${seq}`, text: `question ${seq}` });
    ledger.acknowledge(acknowledged(seq));
  }
  const messages = [asked(1), answered(1), asked(2), answered(2)];
  return { ledger, messages };
}

const check = (
  ledger: Ledger,
  partial: Partial<Transcript>,
): Pick<Finding, 'kind' | 'messageId'>[] =>
  checkTranscripts([{ conversationId, lastSeq: 2, messages: [], ...partial }], ledger).map(
    ({ kind, messageId }) => ({ kind, ...(messageId !== undefined && { messageId }) }),
  );

describe('the check of transcripts', () => {
  test('finds nothing where every message and answer stands once', () => {
    const { ledger, messages } = twoTurns();

    expect(check(ledger, { messages })).toEqual([]);
  });

  test('finds an acknowledged message that is missing, and the gap it leaves', () => {
    const { ledger, messages } = twoTurns();

    expect(check(ledger, { messages: messages.slice(2) })).toEqual([
      { kind: 'lost' },
      { kind: 'lost', messageId: 'message-1' },
    ]);
  });

  test('finds an acknowledged message whose conversation is missing', () => {
    const { ledger } = twoTurns();

    expect(checkTranscripts([], ledger).map(({ kind }) => kind)).toEqual(['lost', 'lost']);
  });

  test('finds an answer that is missing', () => {
    const { ledger, messages } = twoTurns();

    expect(check(ledger, { messages: messages.slice(0, 3) })).toEqual([
      { kind: 'lost', messageId: 'message-2' },
    ]);
  });

  test('finds a message that became two turns', () => {
    const { ledger, messages } = twoTurns();
    const again = { ...asked(2), seq: 3 };

    expect(check(ledger, { lastSeq: 3, messages: [...messages, again] })).toContainEqual({
      kind: 'doubled',
      messageId: 'message-2',
    });
  });

  test('finds two messages with the same seq', () => {
    const { ledger, messages } = twoTurns();
    ledger.send({ conversationId, messageId: 'message-3', text: 'question 3' });

    expect(check(ledger, { messages: [...messages, { ...asked(3), seq: 2 }] })).toEqual([
      { kind: 'doubled' },
    ]);
  });

  test('finds an answer other than the one the phone was told', () => {
    const { ledger, messages } = twoTurns();
    ledger.acknowledge({ ...acknowledged(2), answerHash: hashOf('another answer') });

    expect(check(ledger, { messages })).toEqual([{ kind: 'mismatched', messageId: 'message-2' }]);
  });

  test('finds a text other than the one that was sent', () => {
    const { ledger, messages } = twoTurns();
    const altered = { ...asked(1), textHash: hashOf('something else') };

    expect(check(ledger, { messages: [altered, ...messages.slice(1)] })).toEqual([
      { kind: 'mismatched', messageId: 'message-1' },
    ]);
  });

  test('finds a message that nobody sent', () => {
    const { ledger, messages } = twoTurns();

    expect(check(ledger, { lastSeq: 3, messages: [...messages, asked(3)] })).toEqual([
      { kind: 'mismatched', messageId: 'message-3' },
    ]);
  });

  test('finds a stored message that was refused for good, unless another has taken its place', () => {
    const { ledger, messages } = twoTurns();
    for (const seq of [3, 4])
      ledger.send({ conversationId, messageId: `message-${seq}`, text: `question ${seq}` });
    ledger.acknowledge({ ...acknowledged(3), outcome: 'failed', reason: 'R' });
    const stored = [...messages, asked(3)];
    const replaced = [...stored, { ...asked(4), replaces: 3 }];

    expect(check(ledger, { lastSeq: 3, messages: stored })).toEqual([
      { kind: 'refused', messageId: 'message-3' },
    ]);
    expect(check(ledger, { lastSeq: 4, messages: replaced })).toEqual([]);
    expect(check(ledger, { messages })).toEqual([{ kind: 'lost', messageId: 'message-3' }]);
  });

  test('wants a deleted message empty once the phone was told that it is', () => {
    const { ledger, messages } = twoTurns();
    const emptied = messages.map((message) =>
      message.seq === 1 ? { ...message, textHash: hashOf('') } : message,
    );

    ledger.deleted.set('c1/message-1', 'asked');
    expect(check(ledger, { messages })).toEqual([]);
    expect(check(ledger, { messages: emptied })).toEqual([]);

    ledger.deleted.set('c1/message-1', 'told');
    expect(check(ledger, { messages: emptied })).toEqual([]);
    expect(check(ledger, { messages })).toContainEqual({
      kind: 'mismatched',
      messageId: 'message-1',
    });
  });

  test('calls an assembled answer that is not the stored one a torn stream', () => {
    const { ledger, messages } = twoTurns();
    ledger.acknowledge({ ...acknowledged(2), answerHash: hashOf('half'), isAssembled: true });

    expect(check(ledger, { messages })).toEqual([{ kind: 'torn', messageId: 'message-2' }]);
  });

  test('finds a turn that a stream named and that is not there, or is another', () => {
    const { ledger, messages } = twoTurns();
    ledger.send({ conversationId, messageId: 'message-3', text: 'question 3' });
    ledger.promised.set('message-3', 3).set('message-2', 1);

    expect(check(ledger, { messages })).toEqual([
      { kind: 'lost', messageId: 'message-3' },
      { kind: 'mismatched', messageId: 'message-2' },
    ]);
  });

  test('wants nothing of a conversation that was to be erased', () => {
    const { ledger } = twoTurns();
    ledger.erase(conversationId, 'uid');

    expect(checkTranscripts([], ledger)).toEqual([]);
  });

  test('wants what a fork had of its source, and lets it be deleted', () => {
    const { ledger, messages } = twoTurns();
    const texts = new Map(messages.map(({ id, textHash }) => [id, textHash]));
    ledger.inherited.set('fork', { source: conversationId, texts });
    const whole = { conversationId: 'fork', lastSeq: 2 };
    const found = (transcriptEntrys: readonly TranscriptEntry[]) =>
      checkTranscripts(
        [
          { conversationId, lastSeq: 2, messages },
          { ...whole, messages: transcriptEntrys },
        ],
        ledger,
      ).map(({ kind }) => kind);
    const emptied = messages.map((entry) => ({ ...entry, textHash: hashOf('') }));

    expect(found(messages)).toEqual([]);
    expect(found(messages.slice(0, 3))).toEqual(['lost']);
    expect(found([...messages.slice(0, 3), ...emptied.slice(3)])).toEqual(['mismatched']);
    ledger.deleted.set('fork/m_2', 'told');
    expect(found([...messages.slice(0, 3), ...emptied.slice(3)])).toEqual([]);
  });
});
