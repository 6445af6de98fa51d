import type { Part } from '../documents/content.ts';

const callId = ({ functionCall }: Part) => functionCall?.id;
const responseId = ({ functionResponse }: Part) => functionResponse?.id;

/** By id where both have one, else by name alone, in order. */
const pairings: readonly ((call: Part, response: Part) => boolean)[] = [
  (call, response) => callId(call) !== undefined && callId(call) === responseId(response),
  (call, response) => callId(call) === undefined || responseId(response) === undefined,
  // An id that fits nothing says less than the place right behind the call.
  () => true,
];

/** Which response answers which call: of the same name, the one that fits best. Entries are told by themselves. */
export function pairCalls<Entry extends { part: Part }>(
  calls: readonly Entry[],
  responses: readonly Entry[],
): Map<Entry, Entry> {
  const pairs = new Map<Entry, Entry>();
  const free = new Set(responses);
  for (const fits of pairings)
    for (const call of calls) {
      if (pairs.has(call)) continue;
      for (const response of free) {
        const isOther = response.part.functionResponse?.name !== call.part.functionCall?.name;
        if (isOther || !fits(call.part, response.part)) continue;
        pairs.set(call, response);
        free.delete(response);
        break;
      }
    }
  return pairs;
}

/** The response under the id of its call; the same object where it has it. */
export function withCallId(call: Part, response: Part): Part {
  const { functionResponse } = response;
  const id = callId(call);
  if (functionResponse === undefined || functionResponse.id === id) return response;
  const { id: _, ...rest } = functionResponse;
  return { ...response, functionResponse: { ...(id !== undefined && { id }), ...rest } };
}
