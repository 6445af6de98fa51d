import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { readOwnTurn } from '#functions/chat/turns/stream/read-turn.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { streamTurn } from '#functions/chat/turns/stream/stream-turn.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { chunksCollection } from '#shared/conversation/documents/paths.ts';
import type { Clock, DocumentStore } from '#shared/ports/ports.ts';
import { decodeStreamChunk } from '#shared/wire/stream-chunk.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { createManualClock, type ManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer } from '#test/fakes/scripted-streamer.ts';
import { steeredStreamer, type SteeredCall } from '#test/fakes/steered-streamer.ts';
import { chatDependencies } from './chat-dependencies.ts';
import { collect, request } from './sending.ts';

/** An answer of five frames, one for each. */
export const FIVE_WORDS = ['One ', 'two ', 'three ', 'four ', 'five.'];

/** The last id of its stream: start, text-start, five deltas, text-end, data-context, finish. */
export const LAST_ID = 9;

/** Lets everything run that can run without the clock. */
export async function settle(rounds = 20): Promise<void> {
  for (let i = 0; i < rounds; i++) await setImmediate();
}

/** Moves the clock on in small steps and lets everything run in between. */
export async function pass(clock: ManualClock, ms: number, stepMs = 50): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(Math.min(stepMs, ms - passed));
    await settle();
  }
}

/** Lets the model say each text so that it becomes a frame of its own. */
export async function sayEach(
  clock: ManualClock,
  call: SteeredCall,
  texts: readonly string[],
): Promise<void> {
  for (const text of texts) {
    call.say(text);
    await settle(3);
    await pass(clock, 40, 40);
  }
}

/** The frames of turn `seq` as one who only reads gets them; `undefined`: nothing is left. */
export async function readStream(
  dependencies: ChatDependencies,
  target: { conversationId: string; seq?: number; cursor?: number | undefined; left?: AbortSignal },
): Promise<AsyncIterable<StreamFrame> | undefined> {
  const { conversationId, seq = 1, cursor, left } = target;
  const caller = { uid: 'u1', tier: 'signedIn' } as const;
  const { own, turn } = await readOwnTurn(dependencies, {
    caller,
    conversationId,
    turnId: `t_${seq}`,
  });
  const reader = { caller, cursor, locale: undefined };
  const read = await streamTurn(dependencies, own, { ...reader, turn: turn.value });
  return read?.(left && { left });
}

/** The same where something is left. Throws Error when nothing is. */
export async function openStream(
  ...asked: Parameters<typeof readStream>
): Promise<AsyncIterable<StreamFrame>> {
  const frames = await readStream(...asked);
  if (!frames) throw new Error('nothing is left of this stream');
  return frames;
}

/** What an app shows that heeds the notices: the text of the parts that still hold. */
export function shownText(frames: readonly StreamFrame[]): string {
  const parts = new Map<string, string>();
  for (const { chunk } of frames) {
    if (chunk.type === 'data-notice' && chunk.data.kind === 'restarted')
      for (const id of chunk.data.dropParts) parts.delete(id);
    if (chunk.type === 'text-start') parts.set(chunk.id, '');
    if (chunk.type === 'text-delta') parts.set(chunk.id, `${parts.get(chunk.id)}${chunk.delta}`);
  }
  return [...parts.values()].join('');
}

export const idsOf = (frames: readonly StreamFrame[]) => frames.map(({ id }) => id);
export const typesOf = (frames: readonly StreamFrame[]) => frames.map(({ chunk }) => chunk.type);

/** The only turn of a conversation as it is stored. */
export async function storedTurn(dependencies: ChatDependencies, conversationId: string, seq = 1) {
  const [turn] = await readTurns(dependencies.store, conversationId, [seq]);
  if (!turn) throw new Error(`turn ${seq} is not stored`);
  return turn.value;
}

/** An instance whose model is steered by the test. */
export function steeredChat(overrides: Partial<ChatDependencies> = {}) {
  const steered = steeredStreamer();
  return { ...steered, dependencies: chatDependencies({ model: steered.model, ...overrides }) };
}

/** An instance that answers with one frame for each text, already finished. */
export async function answered(
  texts: readonly string[],
  target: { clock: ManualClock; conversationId: string; overrides?: Partial<ChatDependencies> },
) {
  const { clock, conversationId, overrides } = target;
  const chat = steeredChat({ clock, ...overrides });
  const send = request(conversationId, 'Tell me.');
  const handle = await sendMessage(chat.dependencies, send);
  const call = await chat.call();
  await sayEach(clock, call, texts);
  call.end();
  await handle.result;
  return { ...chat, send, handle };
}

/** A store and a clock as a process has them that can stand still: nothing goes out or comes back until it goes on. */
export function stoppable({ store, clock }: { store: DocumentStore; clock: Clock }) {
  let gate: Promise<void> | undefined;
  const gated = async <T>(work: () => Promise<T>): Promise<T> => {
    await gate;
    return work();
  };
  const stoppedStore: DocumentStore = {
    ...store,
    get: (paths) => gated(() => store.get(paths)),
    query: (query) => gated(() => store.query(query)),
    commit: (writes) => gated(() => store.commit(writes)),
  };
  return {
    store: stoppedStore,
    clock: {
      now: () => clock.now(),
      wait: async (ms: number, signal?: AbortSignal) => {
        await clock.wait(ms, signal);
        await gate;
      },
    },
    /** Returns what lets it go on. */
    stop: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
  };
}

/** An instance whose model is never asked. */
export const silentModel = () => scriptedStreamer({ error: new Error('must not be asked') }).model;

/** The chunk documents of the first turn, in order. */
export async function storedChunks(store: DocumentStore, conversationId: string) {
  const collection = chunksCollection(conversationId, 1);
  const documents = await store.query({ collection, limit: 1_000 });
  return documents.map(decodeStreamChunk);
}

/** A turn that is being answered, and of which nothing has been said; its process can stand still. */
export async function speaking(overrides: Partial<ChatDependencies> = {}) {
  const clock = createManualClock();
  const store = overrides.store ?? createMemoryDocumentStore();
  const conversationId = randomUUID();
  const process = stoppable({ store, clock });
  const chat = steeredChat({ ...overrides, clock: process.clock, store: process.store });
  const send = request(conversationId, 'Tell me.');
  const handle = await sendMessage(chat.dependencies, send);
  const frames = collect(handle.frames());
  const call = await chat.call();
  return { ...chat, process, clock, store, conversationId, send, handle, frames, call };
}
