import { AnswerTooLarge } from '../gemini/gemini-errors.ts';

/**
 * UTF-16 units that one event may have: of an answer 2 MiB are stored (ANSWER_MAX_BYTES), and its JSON may be twice as long
 * for what is escaped. What is longer is no stream of events.
 */
export const EVENT_MAX_CHARACTERS = 4 * 1024 * 1024;

/** Reads the `data` of server-sent events out of a text that comes in pieces. */
interface EventData {
  /** The data of the events that the piece has completed. Throws AnswerTooLarge for an event that does not end. */
  feed(piece: string): string[];
  /** What stood in no whole event so far: half of one, or a text that is none. */
  rest(): string;
}

/**
 * A reader of the part of the format that servers of models use: lines end with a line feed, with or without a carriage
 * return, an empty one ends an event, and of its fields `data` alone is told. Comments and other fields are passed over.
 */
export function createEventData(): EventData {
  /** What has come of a line that has not ended. A piece is searched once, however long its line becomes. */
  let text = '';
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
      let start = 0;
      for (;;) {
        const end = piece.indexOf('\n', start);
        if (end < 0) break;
        const line = (text + piece.slice(start, end)).replace(/\r$/, '');
        text = '';
        start = end + 1;
        if (line !== '') take(line);
        else if (data !== undefined) {
          complete.push(data);
          data = undefined;
        }
      }
      text += piece.slice(start);
      if (text.length + (data?.length ?? 0) + unknown.length > EVENT_MAX_CHARACTERS)
        throw new AnswerTooLarge(`an event has more than ${EVENT_MAX_CHARACTERS} characters`);
      return complete;
    },
    rest: () => `${unknown}${data === undefined ? '' : `data: ${data}\n`}${text}`.trim(),
  };
}
