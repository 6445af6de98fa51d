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
export interface Oddity {
  conversationId: string;
  messageId?: string;
  what: string;
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What all phones sent and were told, in the order in which it happened. */
export class Ledger {
  readonly sent = new Map<string, SentMessage>();
  readonly acknowledgements: Acknowledgement[] = [];
  /** Messages that were to be deleted, and whether the phone was told that they are. */
  readonly deleted = new Map<string, 'asked' | 'told'>();
  readonly oddities: Oddity[] = [];
  /** Owner of each conversation. */
  readonly conversations = new Map<string, string>();
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

  /** Messages that were acknowledged at least once. */
  get acknowledgedCount(): number {
    return this.#settled.size;
  }
}
