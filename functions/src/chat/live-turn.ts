import type { Turn } from '../../../shared/conversation/turn.ts';
import type { ContextObject } from '../../../shared/wire/context-object.ts';
import type { StreamChunk, StreamFrame } from '../../../shared/wire/stream.ts';

export interface FinishedTurn {
  turn: Turn;
  context: ContextObject;
  replayed: boolean;
}

/** A turn as its producer and its readers in this process share it. */
export interface LiveTurn {
  attempt: number;
  emit(chunk: StreamChunk): void;
  /** No frame comes after this. */
  end(): void;
  /** Every frame from the first on, then live; any number of readers. */
  frames(): AsyncIterable<StreamFrame>;
  result: Promise<FinishedTurn>;
}

/** Live turns of this instance by `{conversationId}/{seq}`. */
export type LiveTurns = Map<string, LiveTurn>;

export const liveTurnKey = (conversationId: string, seq: number) => `${conversationId}/${seq}`;

/** The frame log of one attempt: bounded by the answer itself, dropped with the turn. */
export function createFrameLog() {
  const log: StreamFrame[] = [];
  let ended = false;
  let wake: () => void = () => undefined;
  let change = new Promise<void>((resolve) => (wake = resolve));
  const signal = () => {
    wake();
    change = new Promise<void>((resolve) => (wake = resolve));
  };

  async function* frames(): AsyncIterable<StreamFrame> {
    for (let next = 0; ;) {
      const changed = change;
      for (let frame = log[next]; frame !== undefined; frame = log[++next]) yield frame;
      if (ended && next >= log.length) return;
      if (next >= log.length) await changed;
    }
  }

  return {
    emit: (chunk: StreamChunk) => {
      log.push({ id: log.length, chunk });
      signal();
    },
    end: () => {
      ended = true;
      signal();
    },
    frames,
  };
}
