import { createHash } from 'node:crypto';

/** What a phone was told in the end about a message. */
export interface Acknowledgement {
  conversationId: string;
  messageId: string;
  /** `failed`: stored, and there will be no answer to it. */
  outcome: 'answered' | 'failed';
  /** Of its turn; a refusal does not name it. */
  seq?: number;
  /** SHA-256 of the answer's text. */
  answerHash?: string;
  /** The answer was put together from the frames of several connections. */
  isAssembled?: boolean;
  /** Of a failed message. */
  reason?: string;
  at: Date;
}

interface SentMessage {
  conversationId: string;
  messageId: string;
  /** SHA-256 of the text. */
  textHash: string;
}

/** A reply that no phone can make sense of: a defect, whatever was stored. */
interface Oddity {
  conversationId: string;
  messageId?: string;
  what: string;
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What all phones sent and were told, in the order in which it happened. */
export class Ledger {
  readonly sent = new Map<string, SentMessage>();
  /** Seqs that streams named before anything was answered: those messages are stored. */
  readonly promised = new Map<string, number>();
  readonly acknowledgements: Acknowledgement[] = [];
  /** Messages that were to be deleted, and whether the phone was told that they are. */
  readonly deleted = new Map<string, 'asked' | 'told'>();
  readonly oddities: Oddity[] = [];
  /** What phones themselves saw to be wrong. */
  readonly findings: Finding[] = [];
  /** Owner of each conversation that is to be there in the end. */
  readonly conversations = new Map<string, string>();
  /** Conversations that were to be erased, their owners, and whether the phone was told that they are. */
  readonly erased = new Map<string, { uid: string; state: 'asked' | 'told' }>();
  /** Words that stand nowhere but in a message or its answer, by message id. */
  readonly canaries = new Map<string, readonly string[]>();
  readonly #settled = new Set<string>();
  readonly #onAcknowledge: (acknowledgement: Acknowledgement) => void;

  constructor(onAcknowledge: (acknowledgement: Acknowledgement) => void = () => undefined) {
    this.#onAcknowledge = onAcknowledge;
  }

  send(message: { conversationId: string; messageId: string; text: string }): void {
    const { conversationId, messageId, text } = message;
    this.sent.set(messageId, { conversationId, messageId, textHash: hashOf(text) });
  }

  acknowledge(acknowledgement: Acknowledgement): void {
    this.#settled.add(acknowledgement.messageId);
    this.acknowledgements.push(acknowledgement);
    this.#onAcknowledge(acknowledgement);
  }

  /** From now on the conversation is not expected to be there. */
  erase(conversationId: string, uid: string): void {
    this.conversations.delete(conversationId);
    this.erased.set(conversationId, { uid, state: 'asked' });
  }

  /** Messages that were acknowledged at least once. */
  get acknowledgedCount(): number {
    return this.#settled.size;
  }
}

export interface Finding {
  /**
   * `torn`: a stream that was read in pieces; `leaked`: something of what was erased; `refused`: a stored message that
   * its phone was told will never be answered, though nothing was wrong with it; `inbox`: the list of conversations, or
   * what a device was told of it, says otherwise than a conversation.
   */
  kind: 'lost' | 'doubled' | 'mismatched' | 'unfinished' | 'torn' | 'leaked' | 'refused' | 'inbox';
  conversationId: string;
  messageId?: string;
  what: string;
}

/** A message of a transcript as the public interface showed it in the end. */
export interface TranscriptEntry {
  id: string;
  role: 'user' | 'model';
  seq: number;
  textHash: string;
  /** First of the turns that an edit stands in for. */
  replaces?: number | undefined;
}

export interface Transcript {
  conversationId: string;
  /** What the conversation says about its length. */
  lastSeq: number;
  messages: readonly TranscriptEntry[];
  /** Ids of messages that a phone wanted to be deleted; their texts may be empty. */
  deleted?: readonly string[];
}

interface Record {
  sent: ReadonlyMap<string, SentMessage>;
  acknowledgements: readonly Acknowledgement[];
  deleted: ReadonlyMap<string, 'asked' | 'told'>;
  /** Seqs that streams named, by message id. */
  promised: ReadonlyMap<string, number>;
  /** Conversations that are not expected to be there. */
  erased: ReadonlyMap<string, unknown>;
}

const EMPTY = hashOf('');

/** Whether a text is as it should be; what was deleted is empty, and may be where nobody was told so. */
function isText(
  found: string,
  expected: string | undefined,
  deleted: 'asked' | 'told' | undefined,
) {
  switch (deleted) {
    case undefined:
      return found === expected;
    case 'asked':
      return found === expected || found === EMPTY;
    case 'told':
      return found === EMPTY;
  }
}

function checkSeqs({ conversationId, messages, lastSeq }: Transcript): Finding[] {
  const seqs = messages.filter(({ role }) => role === 'user').map(({ seq }) => seq);
  const findings: Finding[] = [];
  for (let seq = 1; seq <= Math.max(lastSeq, ...seqs); seq += 1) {
    const count = seqs.filter((each) => each === seq).length;
    if (count === 0)
      findings.push({ kind: 'lost', conversationId, what: `no user message has seq ${seq}` });
    if (count > 1)
      findings.push({ kind: 'doubled', conversationId, what: `seq ${seq} stands ${count} times` });
    if (count > 0 && seq > lastSeq)
      findings.push({ kind: 'mismatched', conversationId, what: `seq ${seq} is above lastSeq` });
  }
  return findings;
}

function checkMessages({ conversationId, messages }: Transcript, record: Record): Finding[] {
  const { sent, deleted } = record;
  const seen = new Set<string>();
  return messages.flatMap(({ id, role, textHash }): Finding[] => {
    const target = { conversationId, messageId: id };
    const isAgain = seen.has(id);
    seen.add(id);
    if (isAgain) return [{ kind: 'doubled', ...target, what: `${role} message stands twice` }];
    if (role === 'model') return [];
    const known = sent.get(id);
    if (known?.conversationId !== conversationId)
      return [{ kind: 'mismatched', ...target, what: 'nobody sent this message here' }];
    return isText(textHash, known.textHash, deleted.get(id))
      ? []
      : [{ kind: 'mismatched', ...target, what: 'the text is not the one that was sent' }];
  });
}

/** Another message has taken the place of this one. */
const isReplaced = ({ seq }: TranscriptEntry, entries: Iterable<TranscriptEntry>): boolean =>
  [...entries].some((other) => other.seq > seq && (other.replaces ?? Infinity) <= seq);

function checkAcknowledgement(
  acknowledgement: Acknowledgement,
  byId: ReadonlyMap<string, TranscriptEntry>,
  deleted: 'asked' | 'told' | undefined,
): Finding[] {
  const { conversationId, messageId, outcome, seq, answerHash, reason } = acknowledgement;
  const target = { conversationId, messageId };
  const message = byId.get(messageId);
  if (!message) return [{ kind: 'lost', ...target, what: `${outcome}, and not in the transcript` }];
  if (outcome === 'failed')
    return deleted || isReplaced(message, byId.values())
      ? []
      : [{ kind: 'refused', ...target, what: `stored, and refused for good: ${reason}` }];
  if (seq !== message.seq)
    return [
      { kind: 'mismatched', ...target, what: `answered as ${seq}, stored as ${message.seq}` },
    ];
  const answer = byId.get(`m_${seq}`);
  // A turn that was cancelled before its first word, or deleted, has no answer to show.
  if (!answer && (answerHash === EMPTY || deleted)) return [];
  if (!answer) return [{ kind: 'lost', ...target, what: `the answer m_${seq} is missing` }];
  return isText(answer.textHash, answerHash, deleted)
    ? []
    : [
        acknowledgement.isAssembled
          ? { kind: 'torn', ...target, what: `torn stream: its text is not that of m_${seq}` }
          : {
              kind: 'mismatched',
              ...target,
              what: `the phone was told another answer than m_${seq}`,
            },
      ];
}

function checkPromises({ conversationId, messages }: Transcript, record: Record): Finding[] {
  const seqs = new Map(messages.map(({ id, seq }) => [id, seq]));
  return [...record.promised].flatMap(([messageId, seq]): Finding[] => {
    if (record.sent.get(messageId)?.conversationId !== conversationId) return [];
    const found = seqs.get(messageId);
    if (found === seq) return [];
    return [
      found === undefined
        ? { kind: 'lost', conversationId, messageId, what: `a stream named its turn ${seq}` }
        : {
            kind: 'mismatched',
            conversationId,
            messageId,
            what: `named ${seq}, stored as ${found}`,
          },
    ];
  });
}

const isSame = (one: Finding, other: Finding) =>
  one.conversationId === other.conversationId &&
  one.messageId === other.messageId &&
  one.what === other.what;

/**
 * Compares what phones were told with the transcripts: every acknowledged message and its answer once and
 * with the same text, nothing twice, nothing that nobody sent, and seq without a gap.
 */
export function checkTranscripts(transcripts: readonly Transcript[], record: Record): Finding[] {
  const byConversation = new Map(
    transcripts.map(({ conversationId, messages }) => [
      conversationId,
      new Map(messages.map((message) => [message.id, message])),
    ]),
  );
  const findings = [
    ...transcripts.flatMap((transcript) => [
      ...checkSeqs(transcript),
      ...checkMessages(transcript, record),
      ...checkPromises(transcript, record),
    ]),
    ...record.acknowledgements
      .filter(({ conversationId }) => !record.erased.has(conversationId))
      .flatMap((acknowledgement) =>
        checkAcknowledgement(
          acknowledgement,
          byConversation.get(acknowledgement.conversationId) ?? new Map(),
          record.deleted.get(acknowledgement.messageId),
        ),
      ),
  ];
  // A message that was acknowledged five times is lost once.
  return findings.filter(
    (finding, index) => findings.findIndex((each) => isSame(each, finding)) === index,
  );
}
