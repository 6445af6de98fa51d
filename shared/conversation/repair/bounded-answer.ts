import { isPlainText, partSchema, type Content, type Part } from '#shared/models/content.ts';
import { boundedJson } from '#shared/lib/json-text.ts';
import type { ModelChunk, ModelUsage } from '#shared/ports/ports.ts';
import { cutHead } from '#shared/text/cut.ts';
import { JSON_DEPTH_MAX, WINDOW_MAX_TOKENS } from '#shared/lib/limits.ts';

/* What a model answers, as it may be stored: whatever it is, the conversation can be read afterwards. */

/** UTF-16 units of the name and of the id of a call. Models take 64 of a name, and send ids of 40. */
const NAME_MAX_CHARACTERS = 128;
const ID_MAX_CHARACTERS = 256;
/** UTF-16 units of why an answer ended. */
const REASON_MAX_CHARACTERS = 64;
/** A part has its payload and that its arguments around the value. */
const PART_LEVELS = JSON_DEPTH_MAX + 2;

const short = <Call extends { id?: string | undefined; name: string }>(call: Call): Call => ({
  ...call,
  ...(call.id !== undefined && { id: cutHead(call.id, ID_MAX_CHARACTERS) }),
  name: cutHead(call.name, NAME_MAX_CHARACTERS),
});

const isShort = ({ id = '', name }: { id?: string | undefined; name: string }) =>
  name.length <= NAME_MAX_CHARACTERS && id.length <= ID_MAX_CHARACTERS;

/**
 * A part as it may be stored; the same where nothing is wrong with it. Its text stays as it is: a stream cuts it
 * anywhere, half characters are whole when it is joined, and JSON escapes those that are not.
 */
function boundedPart(part: Part): Part {
  if (isPlainText(part)) return part;
  const { text, ...rest } = part;
  const bounded = boundedJson(rest, PART_LEVELS);
  const calls = [part.functionCall, part.functionResponse].filter((call) => call !== undefined);
  if (bounded === rest && calls.every(isShort)) return part;
  const { functionCall, functionResponse, ...others } = partSchema.parse(bounded);
  return {
    ...(text !== undefined && { text }),
    ...others,
    ...(functionCall && { functionCall: short(functionCall) }),
    ...(functionResponse && { functionResponse: short(functionResponse) }),
  };
}

/** A content whose parts may be stored; the same where nothing is wrong with them. */
export function boundedContent(content: Content): Content {
  const parts = content.parts.map(boundedPart);
  return parts.every((part, index) => part === content.parts[index])
    ? content
    : { ...content, parts };
}

/** Whether a count of tokens can be one: no prompt and no answer is larger than the largest window. */
const isTokenCount = (count: number): boolean =>
  Number.isInteger(count) && count >= 0 && count <= WINDOW_MAX_TOKENS;

/** A report whose figures can be true; any other says nothing. */
const plausibleUsage = (usage: ModelUsage | undefined): ModelUsage | undefined =>
  usage && Object.values(usage).every(isTokenCount) ? usage : undefined;

const boundedReason = (reason: string) => cutHead(reason.toWellFormed(), REASON_MAX_CHARACTERS);

/** What a model sent, a part of an answer or a whole one, as it may be stored. */
export function boundedAnswer<Answer extends ModelChunk>(answer: Answer): Answer {
  const { parts, finishReason, blockReason, usage } = answer;
  return {
    ...answer,
    parts: parts.map(boundedPart),
    ...(finishReason !== undefined && { finishReason: boundedReason(finishReason) }),
    ...(blockReason !== undefined && { blockReason: boundedReason(blockReason) }),
    usage: plausibleUsage(usage),
  };
}
