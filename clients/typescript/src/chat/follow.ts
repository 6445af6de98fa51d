import { offline } from '../http/error.ts';
import { keepReading } from '../http/keep-reading.ts';
import type { EventStream, Requester } from '../http/requester.ts';
import type { ServerEvent } from '../http/events.ts';
import type { Life } from '../lib/life.ts';
import type { StreamChunk } from '../wire/wire.ts';
import { type LiveAnswer, newAnswer, withChunk } from './messages.ts';

interface Following {
  requester: Requester;
  life: Life;
  conversationId: string;
  seq: number;
  /** The reply that began the turn, if it is to be read. */
  first: EventStream | undefined;
  get: () => LiveAnswer;
  set: (answer: LiveAnswer) => void;
  /** Every event, for what is not of the answer: the context, the title. */
  onChunk: (chunk: StreamChunk) => void;
  /** Nobody looks any more. */
  left: AbortSignal;
}

/** Replies after which the stored message tells the rest. */
const STORED_CODES = [403, 404, 410];

function takeEvent({ get, set, onChunk }: Following, { id, data }: ServerEvent): void {
  const chunk: StreamChunk = JSON.parse(data);
  // The service could not read on: what it says of that is not of the answer.
  if (id === undefined) throw offline(new Error(data));
  set({ ...withChunk(get(), chunk), lastEventId: id });
  onChunk(chunk);
}

async function readOnce(following: Following, stream: EventStream): Promise<void> {
  const { get, set } = following;
  // Without a cursor all of it comes again.
  if (get().lastEventId === undefined) set(newAnswer(get().state));
  let failure: unknown;
  const { isDone } = await stream.read((event) => {
    try {
      takeEvent(following, event);
    } catch (error) {
      failure = error;
      stream.close();
    }
  });
  if (failure) throw offline(failure);
  if (!isDone) throw offline(new Error('the stream ended without [DONE]'));
}

/** Reads an answer until nothing more is to be read: the stored message is the truth. */
export async function followAnswer(following: Following): Promise<void> {
  const { requester, life, conversationId, seq, get, set, left } = following;
  const path = `/v1/conversations/${conversationId}/turns/t_${seq}/stream`;
  let { first } = following;
  await keepReading({
    life,
    left,
    cursor: () => get().lastEventId,
    read: async (hold) => {
      const startingAfter = get().lastEventId;
      const given = { query: { startingAfter }, signal: left };
      try {
        const stream = first ?? (await requester.stream('GET', path, given));
        first = undefined;
        hold(stream);
        if (stream.code !== 204) await readOnce(following, stream);
        return true;
      } catch (thrown) {
        const { code } = offline(thrown);
        if (code !== 400) {
          if (STORED_CODES.includes(code)) return true;
          throw thrown;
        }
        // The cursor is not one of this turn: once more without it.
        set({ ...get(), lastEventId: undefined });
        return startingAfter === undefined;
      }
    },
  });
  first?.close();
}
