import { createParser } from 'eventsource-parser';

export interface WireEvent {
  /** Undefined for an event without one. */
  id: number | undefined;
  chunk: {
    type: string;
    id?: string;
    delta?: string;
    messageId?: string;
    data?: { kind?: string; dropParts?: string[] };
    finishReason?: string;
  };
}

/**
 * The events of a response as they come, until it ends, its connection breaks, or `isEnough` says so; bytes
 * are decoded across pieces of any size.
 */
export async function readEvents(
  response: Response,
  isEnough: (events: readonly WireEvent[]) => boolean = () => false,
): Promise<WireEvent[]> {
  const events: WireEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, data }) => {
      if (data !== '[DONE]' && !isEnough(events))
        events.push({ id: id === undefined ? undefined : Number(id), chunk: JSON.parse(data) });
    },
  });
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read().catch(() => undefined)) ?? { done: true };
    if (value) parser.feed(decoder.decode(value, { stream: true }));
    if (done || isEnough(events)) break;
  }
  // Nobody waits for a server that may be dead.
  void reader?.cancel().catch(() => undefined);
  return events;
}

/** The text that a client shows after these events: a part that was dropped is gone. */
export function shownText(events: readonly WireEvent[]): string {
  const parts = new Map<string, string>();
  for (const { chunk } of events) {
    const { type, id = '', delta = '' } = chunk;
    if (type === 'data-notice') for (const part of chunk.data?.dropParts ?? []) parts.delete(part);
    if (type === 'text-start') parts.set(id, '');
    if (type === 'text-delta') parts.set(id, (parts.get(id) ?? '') + delta);
  }
  return [...parts.values()].join('');
}

export const lastIdOf = (events: readonly WireEvent[]): number | undefined =>
  events.findLast(({ id }) => id !== undefined)?.id;
