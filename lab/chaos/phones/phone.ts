import { type Finding, hashOf, type Ledger } from '#lab/chaos/checks/check-transcripts.ts';
import type { Random } from '../random.ts';
import type { OutgoingMessage, ChatClient, SendResult } from '#lab/chat-client/client.ts';
import { messageText } from './message-text.ts';
import { setTimeout as delay } from 'node:timers/promises';

const FIRST_BACK_OFF_MS = 150;
const LONGEST_BACK_OFF_MS = 2_000;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;
const DELETE_TRIES = 40;

interface PhoneOptions {
  client: ChatClient;
  ledger: Ledger;
  random: Random;
  uid: string;
  conversationIds: readonly string[];
  /** Fires when no new message is to be begun. */
  stopping: AbortSignal;
  /** Fires when even a message that is under way is left. */
  deadline: AbortSignal;
  /** Called before a message is sent for the first time. */
  onMessage: (message: OutgoingMessage) => void;
  /** Counts something that the phone did. */
  count: (name: string) => void;
}

/** One person's phone: talks, and sends again until it knows how each message stands. */
export class Phone {
  readonly options: PhoneOptions;
  /** The last acknowledged message, to be asked for again. */
  lastAnswered: OutgoingMessage | undefined;
  /** What it still wants to know how it stands. */
  readonly unknown = new Map<string, OutgoingMessage>();
  /** Those that are its own now. */
  readonly conversationIds: string[];
  /** On the way to be erased: 404 is no surprise. */
  readonly hidden = new Set<string>();
  /** Conversations that it was told are erased. */
  readonly erased: string[] = [];
  #count = 0;

  constructor(options: PhoneOptions) {
    this.options = options;
    this.conversationIds = [...options.conversationIds];
  }

  /** A new message, in one of the phone's conversations; a long one crosses the threshold. */
  compose({
    conversationId,
    isLong,
    replaces,
    onBusy,
  }: Pick<OutgoingMessage, 'replaces' | 'onBusy'> & {
    conversationId?: string;
    isLong?: boolean;
  } = {}) {
    const { random, ledger, onMessage } = this.options;
    this.#count += 1;
    const text = messageText(random, this.#count, isLong);
    const message: OutgoingMessage = {
      conversationId: conversationId ?? random.pick(this.conversationIds),
      messageId: random.uuid(),
      text,
      ...(replaces !== undefined && { replaces }),
      ...(onBusy && { onBusy }),
    };
    ledger.send(message);
    onMessage(message);
    return message;
  }

  /** Sends once and notes what it was told. */
  async trySend(
    message: OutgoingMessage,
    options: { transport?: 'sse' | 'json'; signal?: AbortSignal } = {},
  ): Promise<SendResult> {
    const { client, random } = this.options;
    const transport = options.transport ?? random.pick(['sse', 'json'] as const);
    const sent = await client.send(message, { ...options, transport });
    const isHidden = sent.kind === 'odd' && this.hidden.has(message.conversationId);
    const result: SendResult = isHidden ? { kind: 'again', why: 'hidden' } : sent;
    this.note(message, result);
    return result;
  }

  /**
   * Sends the same id until it is answered or refused for good, or the run is over. After a stream that
   * ended in an error it asks for JSON: only that tells whether the error is final.
   */
  async sendUntilKnown(message: OutgoingMessage): Promise<void> {
    const { random, deadline } = this.options;
    let transport: 'sse' | 'json' | undefined;
    this.unknown.set(message.messageId, message);
    for (let tries = 0; !deadline.aborted; tries += 1) {
      const result = await this.trySend(message, transport && { transport });
      if (result.kind !== 'again') {
        this.unknown.delete(message.messageId);
        return;
      }
      transport = result.why === 'broken stream' ? 'json' : undefined;
      const backOffMs = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** tries);
      const askedMs = result.retryAfterMs ?? 0;
      await this.wait(Math.max(askedMs, backOffMs * (0.5 + random.next() / 2)));
    }
  }

  /**
   * Deletes until there is an answer that another try would not change: its status; `undefined` when there was
   * none.
   */
  async deleteUntilKnown(path: string): Promise<number | undefined> {
    const { client, random, deadline } = this.options;
    for (let count = 1; count <= DELETE_TRIES && !deadline.aborted; count += 1) {
      const reply = await client.ask('DELETE', path);
      const isKnown = reply && reply.status < 500 && reply.status !== 409 && reply.status !== 429;
      if (isKnown) return reply.status;
      await this.wait(random.integer(100, Math.min(1_000, 150 * count)));
    }
    return undefined;
  }

  /** Something is wrong that only the phone can see. */
  report(kind: Finding['kind'], omit: Omit<Finding, 'kind'>): void {
    this.options.ledger.findings.push({ kind, ...omit });
  }

  /** Ends early when the run is over. */
  async wait(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.options.deadline }).catch(() => undefined);
  }

  /** Does one thing after the other until it is to stop: first says something, then what is in `hand`. */
  async live(actions: readonly PhoneAction[], hand: readonly PhoneAction[] = []): Promise<void> {
    const { random, stopping } = this.options;
    const left = hand.toReversed();
    await this.sendUntilKnown(this.compose());
    while (!stopping.aborted) {
      const action = left.pop() ?? random.weighted(actions);
      this.options.count(action.name);
      await action.run(this);
      await this.wait(random.integer(SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS));
    }
  }

  /** Keeps in mind, and in the ledger, what a try has told. */
  note(message: OutgoingMessage, result: SendResult, isAssembled = false): void {
    const { conversationId, messageId } = message;
    const { ledger } = this.options;
    const target = { conversationId, messageId, at: new Date() };
    switch (result.kind) {
      case 'answered':
        this.lastAnswered = message;
        ledger.acknowledge({
          ...target,
          outcome: 'answered',
          seq: result.seq,
          answerHash: hashOf(result.text),
          ...(isAssembled && { isAssembled }),
        });
        return;
      case 'failed':
        // An edit may be refused before anything is stored.
        if (message.replaces !== undefined) return;
        ledger.acknowledge({ ...target, outcome: 'failed', reason: result.reason });
        return;
      case 'odd':
        ledger.oddities.push({ conversationId, messageId, what: result.what });
        return;
      case 'again':
        return;
    }
  }
}

/** Something that a phone does. A new feature joins the chaos by one more entry. */
export interface PhoneAction {
  name: string;
  /** How often, against the others. */
  weight: number;
  run(phone: Phone): Promise<void>;
}
