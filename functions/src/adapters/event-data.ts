/**
 * UTF-16 units that one event may have: an answer ends far below (ANSWER_MAX_BYTES), an image that a model draws has a
 * few million. What is longer is no stream of events.
 */
export const EVENT_MAX_CHARACTERS = 32 * 1024 * 1024;

/** Reads the `data` of server-sent events out of a text that comes in pieces. */
export interface EventData {
  /** The data of the events that the piece has completed. Throws RangeError for an event that does not end. */
  feed(piece: string): string[];
  /** What stood in no whole event so far: half of one, or a text that is none. */
  rest(): string;
}

/**
 * A reader of the part of the format that servers of models use: lines end with a line feed, with or without a carriage
 * return, an empty one ends an event, and of its fields `data` alone is told. Comments and other fields are passed over.
 */
export function createEventData(): EventData {
  let text = '';
  /** Before it there is no end of a line. */
  let lookFrom = 0;
  let data: string | undefined;
  let unknown = '';
  const take = (line: string) => {
    if (line.startsWith('data:')) {
      const value = line.slice(line[5] === ' ' ? 6 : 5);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (!/^(?::|(?:event|id|retry)(?::|$))/.test(line)) unknown += `${line}\n`;
  };
  return {
    feed: (piece) => {
      const complete: string[] = [];
      text += piece;
      let start = 0;
      for (;;) {
        const end = text.indexOf('\n', lookFrom);
        if (end < 0) break;
        const line = text.slice(start, text[end - 1] === '\r' && end > start ? end - 1 : end);
        start = lookFrom = end + 1;
        if (line !== '') take(line);
        else if (data !== undefined) {
          complete.push(data);
          data = undefined;
        }
      }
      text = text.slice(start);
      lookFrom = text.length;
      if (text.length + (data?.length ?? 0) + unknown.length > EVENT_MAX_CHARACTERS)
        throw new RangeError(`an event has more than ${EVENT_MAX_CHARACTERS} characters`);
      return complete;
    },
    rest: () => `${unknown}${data === undefined ? '' : `data: ${data}\n`}${text}`.trim(),
  };
}
