import { callId, findCalls } from '#shared/conversation/context/tool-calls.ts';
import type { Part } from '#shared/conversation/documents/content.ts';
import { singleLineJson } from '#shared/json-text.ts';
import { toOutputParts } from '#shared/wire/resources/message-parts.ts';
import { inputItemId, storedCallId } from './response-id.ts';
import type { StoredResponse } from './stored-response.ts';

const fileItem = (url: string, mediaType = ''): ContentItem =>
  mediaType.startsWith('image/')
    ? { type: 'input_image', image_url: url, detail: 'auto' }
    : { type: 'input_file', file_url: url };

type ContentItem = { type: string } & Readonly<Record<string, string>>;

/** What the user said, in the words of the protocol. */
const contentOf = (seq: number, parts: readonly Part[]) =>
  toOutputParts(seq, [{ role: 'user', parts: [...parts] }]).flatMap((part): ContentItem[] => {
    if (part.type === 'text') return [{ type: 'input_text', text: part.text }];
    if (part.type !== 'file') return [];
    const { uploadId, data, url, mediaType } = part;
    if (uploadId !== undefined) return [{ type: 'input_file', file_id: uploadId }];
    return [
      fileItem(data === undefined ? (url ?? '') : `data:${mediaType};base64,${data}`, mediaType),
    ];
  });

/** The calls that a response answers: those of the round before it. */
function outputsBefore({ place, turn }: StoredResponse) {
  const { conversationId, answeredCalls } = place;
  const calls = findCalls(turn.contents);
  let first = 0;
  let count = 0;
  for (const { role, parts } of turn.contents) {
    if (role !== 'model') continue;
    const own = parts.filter(({ functionCall }) => functionCall !== undefined).length;
    if (count < answeredCalls && count + own >= answeredCalls) first = count;
    count += own;
  }
  return calls.slice(first, answeredCalls).flatMap(({ index, response }) => {
    if (response === undefined || turn.rounds?.app.includes(index) !== true) return [];
    const id = storedCallId(conversationId, callId(turn.seq, index));
    return [
      {
        type: 'function_call_output',
        id: `fco_${id}`,
        call_id: id,
        output: singleLineJson(response),
        status: 'completed',
      },
    ];
  });
}

/** What a response answers: the user's message, or what the app gave to calls. The history is the conversation's. */
export function toInputItems(stored: StoredResponse) {
  const { place, turn } = stored;
  if (place.answeredCalls > 0) return outputsBefore(stored);
  return [
    {
      type: 'message',
      id: inputItemId(place),
      role: 'user',
      status: 'completed',
      content: contentOf(turn.seq, turn.user.parts),
    },
  ];
}
