import { type ChatClient, pathOf } from '#lab/chat-client/client.ts';
import { conversationListResponse, type InboxEntryView } from '#shared/wire/resources/inbox.ts';
import { type UserEvent, userEventResponse } from '#shared/wire/resources/user-events.ts';
import type { Random } from '../random.ts';
import { setTimeout as delay } from 'node:timers/promises';

const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 400;
/** Of the changes after which something is unread. */
const READ_SHARE = 0.3;
/** Of the changes after which it hangs up, as a device does that goes to sleep. */
const HANG_UP_SHARE = 0.03;

interface TabletOptions {
  client: ChatClient;
  random: Random;
  count: (name: string) => void;
}

/** The conversations of a user outside of the bin, as the list has them. Throws as `readPages`. */
export async function readList(client: ChatClient): Promise<Map<string, InboxEntryView>> {
  const lists = ['active', 'archived'].map((list) =>
    client.readPages(`/v1/conversations?list=${list}`, conversationListResponse),
  );
  const pages = (await Promise.all(lists)).flat();
  return new Map(
    pages.flatMap(({ conversations }) => conversations.map((each) => [each.id, each])),
  );
}

/**
 * The other device of a person: lists the conversations once, then keeps its list by the events that it is told, and comes
 * back with its cursor however its connection ends. Now and then it shows an answer, and says so.
 */
export class Tablet {
  readonly #options: TabletOptions;
  #list = new Map<string, InboxEntryView>();
  #cursor: string | undefined;
  #isListed = false;

  constructor(options: TabletOptions) {
    this.#options = options;
  }

  /** What it shows. */
  get list(): ReadonlyMap<string, InboxEntryView> {
    return this.#list;
  }

  /** Follows the events until the signal fires. Never throws. */
  async follow(signal: AbortSignal): Promise<void> {
    const { random, count } = this.#options;
    const isLast = (event: UserEvent) =>
      event.type === 'conversation' && random.chance(HANG_UP_SHARE);
    while (!signal.aborted) {
      await this.#listen(signal, isLast).catch(() => undefined);
      count('tablet: came back');
      const pauseMs = random.integer(SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS);
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Comes back until it has been told everything, or the signal fires. */
  async catchUp(signal: AbortSignal): Promise<void> {
    const told = new AbortController();
    while (!told.signal.aborted && !signal.aborted)
      await this.#listen(signal, ({ type }) => {
        const isLast = type === 'ready' || type === 'reset';
        if (isLast) told.abort();
        return isLast;
      }).catch(() => delay(LONGEST_PAUSE_MS));
  }

  async #listen(signal: AbortSignal, isLast: (event: UserEvent) => boolean): Promise<void> {
    for await (const { id, data } of this.#options.client.userEvents(this.#cursor, signal)) {
      const event = userEventResponse.parse(JSON.parse(data));
      await this.#take(event);
      // Only now: what was not taken is to come again.
      this.#cursor = id;
      if (isLast(event)) return;
    }
  }

  async #take(event: UserEvent): Promise<void> {
    const { client, random, count } = this.#options;
    count(`tablet: ${event.type}`);
    if (event.type === 'reset' || (event.type === 'ready' && !this.#isListed)) {
      this.#list = await readList(client);
      this.#isListed = true;
    }
    if (event.type === 'gone') this.#list.delete(event.conversationId);
    if (event.type !== 'conversation') return;
    const { conversation } = event;
    this.#list.set(conversation.id, conversation);
    if (conversation.unreadCount === 0 || !random.chance(READ_SHARE)) return;
    const seq = random.integer(conversation.readSeq, conversation.lastSeq);
    await client.ask('POST', pathOf(conversation.id, ':read'), { seq });
  }
}
