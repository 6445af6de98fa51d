import type { Part } from '../documents/content.ts';

/** True and short: an empty response would say that the tool found nothing. */
const EMPTIED = { omitted: true };

/**
 * A tool's response in the shortest form that is still one: name, id and one word. Its call keeps its answer,
 * which a model insists on. Media inside the response go with it. A part that is no response stays as it is.
 */
export function emptiedResponse(part: Part): Part {
  if (part.functionResponse === undefined) return part;
  const { response: _response, parts: _media, ...named } = part.functionResponse;
  const { condensed: _condensed, ...kept } = part;
  return { ...kept, functionResponse: { ...named, response: EMPTIED } };
}
