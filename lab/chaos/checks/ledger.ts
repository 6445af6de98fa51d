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

export interface SentMessage {
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
   * its phone was told will never be answered, though nothing was wrong with it.
   */
  kind: 'lost' | 'doubled' | 'mismatched' | 'unfinished' | 'torn' | 'leaked' | 'refused';
  conversationId: string;
  messageId?: string;
  what: string;
}
