import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { itemContents, type ContextItem } from '#shared/conversation/context/assemble-context.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { contentText, contentSchema, type Content } from '#shared/models/content.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { ContextItemView } from '#shared/wire/resources/context.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { heldStreamer } from '#test/fakes/scripted-streamer.ts';
import { eventually } from '#test/support/eventually.ts';
import { chatDependencies } from './chat-dependencies.ts';
import { owner, type Lifecycle } from './lifecycle.ts';
import { randomUUID } from 'node:crypto';

/** A message of user u1. */
export const request = (
  conversationId: string,
  text: string,
  id: string = randomUUID(),
): SendRequest => ({
  caller: { uid: 'u1', tier: 'signedIn' },
  conversationId,
  message: { id, parts: [{ text }] },
});

/** All frames of a stream that ends. */
export async function collect(frames: AsyncIterable<StreamFrame>) {
  const all: StreamFrame[] = [];
  for await (const frame of frames) all.push(frame);
  return all;
}

/** The text that a reader of the frames has seen. */
export const textOf = (frames: readonly StreamFrame[]) =>
  frames.map(({ chunk }) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');

/** Sends one message after the other and waits for each answer. */
export async function sendAll(
  dependencies: ChatDependencies,
  conversationId: string,
  texts: string[],
) {
  for (const text of texts)
    await (
      await sendMessage(dependencies, request(conversationId, text))
    ).result;
}

/** Instances over one store and one clock; `calls` are those of all their models. */
export function instances(environment: Record<string, string> = {}) {
  const store = createMemoryDocumentStore();
  const clock = createManualClock();
  const { model, calls, answerAll } = heldStreamer();
  const instance = (overrides: Partial<ChatDependencies> = {}) =>
    chatDependencies({ store, clock, model, ...overrides }, environment);
  /** An instance that dies when it reaches a crash point. */
  const dyingAt = (point: string) =>
    instance({
      atCrashPoint: (reached) =>
        reached === point ? new Promise<void>(() => undefined) : Promise.resolve(),
    });
  const called = (count: number) =>
    eventually(`${count} model calls`, () =>
      Promise.resolve(calls.length >= count ? calls : undefined),
    );
  return { store, clock, calls, answerAll, instance, dyingAt, called };
}

/** A message that waits when another is being answered. */
export const queued = (conversationId: string, text: string, id?: string) => ({
  ...request(conversationId, text, id),
  onBusy: 'queue' as const,
});

/** A turn in which the user says `text`, answered. */
export async function answered(
  dependencies: ChatDependencies,
  asked: Parameters<typeof sendMessage>[1],
): Promise<Turn> {
  const { result } = await sendMessage(dependencies, asked);
  return (await result).turn;
}

export async function turnsOf(
  { store }: Pick<ChatDependencies, 'store'>,
  conversationId: string,
  count: number,
): Promise<Turn[]> {
  const seqs = Array.from({ length: count }, (_, i) => i + 1);
  return (await readTurns(store, conversationId, seqs)).map(({ value }) => value);
}

/** A conversation with three answered messages and their ids. */
export async function threeTurns(dependencies = chatDependencies()) {
  const id = randomUUID();
  const sent = ['one', 'two', 'three'].map((text) => request(id, text));
  for (const each of sent) await answered(dependencies, each);
  return { id, dependencies, messageIds: sent.map(({ message }) => message.id) };
}

/** An edit of a user's message. */
export const edit = (conversationId: string, messageId: string, text: string): SendRequest => ({
  ...request(conversationId, text),
  replacing: { kind: 'edit', messageId },
});

/** The last answer anew. */
export const regenerate = (conversationId: string, messageId: string): SendRequest => {
  const asked = request(conversationId, '');
  return {
    ...asked,
    message: { ...asked.message, parts: [] },
    replacing: { kind: 'regenerate', messageId },
  };
};

/** The texts of messages and answers that `/context` shows. */
export async function shownTexts(
  dependencies: ChatDependencies,
  conversationId: string,
): Promise<string[]> {
  const caller = { uid: 'u1', tier: 'signedIn' } as const;
  const { items } = await showContext(dependencies, { caller, conversationId });
  return items
    .filter(({ kind }) => kind === 'turn')
    .map(({ content }) => contentText(contentSchema.parse(content)));
}

/** Forks as the owner; `messageId` is the last message that is copied. */
export const fork = (
  { chat }: Pick<Lifecycle, 'chat'>,
  conversationId: string,
  ...[messageId, id]: [messageId: string, id?: string]
) => forkConversation(chat, { caller: owner, conversationId, messageId, id });

const seqsUpTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

/** What the turns up to seq `last` hold that a fork has to hold too. */
export const transcript = async ({ store }: Lifecycle, conversationId: string, last: number) =>
  (await readTurns(store, conversationId, seqsUpTo(last))).map(({ value }) => [
    value.seq,
    value.messageId,
    value.user,
    value.contents,
  ]);

const caller = { uid: 'u1', tier: 'signedIn' } as const;

/** Its owner cancels a turn. */
export const cancel = (dependencies: ChatDependencies, conversationId: string, seq = 1) =>
  cancelTurn(dependencies, { caller, conversationId, turnId: `t_${seq}` });

const isSent = (
  item: ContextItemView,
): item is ContextItemView & Pick<ContextItem, 'kind' | 'content'> =>
  item.kind !== 'system' && item.kind !== 'tools';

/** The contents that `/context` shows, as the next prompt has them. */
export const shownContents = (items: readonly ContextItemView[]): Content[] =>
  itemContents(items.filter(isSent));
