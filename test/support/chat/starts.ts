import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { heldStreamer } from '#test/fakes/held-streamer.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from './chat-dependencies.ts';
import { eventually } from '../eventually.ts';
import { request } from './sending.ts';

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

export const interrupting = (conversationId: string, text: string) => ({
  ...request(conversationId, text),
  onBusy: 'interrupt' as const,
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

/** The texts of a prompt, and of what a turn says. */
export const textsOf = (contents: Parameters<typeof contentText>[0][]) => contents.map(contentText);
