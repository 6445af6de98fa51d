import { contentText, type Content } from '#shared/conversation/documents/content.ts';
import { callId } from '#shared/conversation/context/tool-calls.ts';
import type { Turn, TurnUsage } from '#shared/conversation/documents/turn.ts';
import { usageBeyond } from '#functions/chat/turns/answer/add-usage.ts';
import type { StreamChunk, StreamFrame } from '#shared/wire/resources/streams.ts';

/*
 * A client of OpenAI takes what it gets for its results as a new message: nothing that was said before the calls
 * may stand in it, also when an answer is replayed from its beginning.
 */

const countCalls = ({ role, parts }: Content) =>
  role === 'model' ? parts.filter(({ functionCall }) => functionCall !== undefined).length : 0;

/** The text behind the round that holds call `index` of a turn; -1: all of it. */
export function textAfterCall(contents: readonly Content[], index: number): string {
  let calls = 0;
  let text = '';
  for (const content of contents) {
    if (calls > index) text += contentText(content);
    calls += countCalls(content);
  }
  return text;
}

/** The round that holds call `index` of a turn, as a count from 0; -1 for none. */
function roundOfCall(contents: readonly Content[], index: number): number {
  let calls = 0;
  return contents
    .map(countCalls)
    .filter((count) => count > 0)
    .findIndex((count) => (calls += count) > index);
}

/**
 * What a turn took behind the round that holds call `index`; -1: all of it. Clients add up what each of their requests
 * took.
 */
export function usageAfterCall(
  { contents, rounds, usage }: Pick<Turn, 'contents' | 'rounds' | 'usage'>,
  index: number,
): TurnUsage | undefined {
  return index < 0 ? usage : usageBeyond(usage, rounds?.usages?.[roundOfCall(contents, index)]);
}

/** The last of the calls that are answered, as a count from 0; -1: none is. */
export const lastNamedCall = (seq: number, ids: readonly string[], calls: number): number =>
  Array.from({ length: calls }, (_, index) => index).findLast((index) =>
    ids.includes(callId(seq, index)),
  ) ?? -1;

const isRestart = (chunk: StreamChunk) =>
  chunk.type === 'data-notice' && chunk.data.kind === 'restarted';

/** The frames without the text that stands before the responses to all of these calls. */
export async function* framesAfterCalls(
  frames: AsyncIterable<StreamFrame>,
  ids: readonly string[],
): AsyncGenerator<StreamFrame> {
  let open = new Set(ids);
  for await (const frame of frames) {
    const { chunk } = frame;
    if (isRestart(chunk)) open = new Set(ids);
    if (chunk.type === 'tool-output-available' || chunk.type === 'tool-output-error')
      open.delete(chunk.toolCallId);
    if (open.size === 0 || chunk.type !== 'text-delta') yield frame;
  }
}
