import { hasCondensed, hasFunctionCall, type Content, type Part } from '#shared/models/content.ts';

/*
 * A turn with calls is stored in rounds: the model's content with its calls, and behind it one user content
 * with a response for every call, in their order. An open call has a part without `response`, so that calls and
 * responses are whole pairs at every moment.
 */

/** One call of a turn. */
export interface ToolCall {
  /** Counts the calls of the turn from 0, over all of its rounds. */
  index: number;
  /** As the model sent it; most send none. */
  id?: string | undefined;
  name: string;
  args: Record<string, unknown>;
  /** Absent while the call is open. */
  response?: Record<string, unknown> | undefined;
}

/** Why a call has no response of its own; what the model reads in its place. */
export const unansweredReasons = ['cancelled_by_user', 'expired', 'interrupted'] as const;
export type UnansweredReason = (typeof unansweredReasons)[number];

/** How a call is named on the wire. */
export const callId = (seq: number, index: number): string => `t_${seq}_c${index}`;

/** The turn that a call on the wire belongs to. */
export const turnIdOfCall = (id: string): string => id.replace(/_c\d+$/, '');

/** The same for every attempt at a call: what a tool with an effect knows it again by. */
export const callKey = (seq: number, index: number): string => `t_${seq}:${index}`;

const callParts = (content: Content) => content.parts.flatMap((part) => part.functionCall ?? []);

const responseParts = (content: Content | undefined) =>
  (content?.parts ?? []).flatMap((part) => part.functionResponse ?? []);

/** The user content of a round whose calls are all open. */
export const openResponses = (content: Content): Content => ({
  role: 'user',
  parts: callParts(content).map(({ id, name }) => ({
    functionResponse: { ...(id !== undefined && { id }), name },
  })),
});

/** The calls that a turn's contents hold, in order. */
export function findCalls(contents: readonly Content[]): ToolCall[] {
  const calls: ToolCall[] = [];
  for (const [place, content] of contents.entries()) {
    if (content.role !== 'model') continue;
    const responses = responseParts(contents[place + 1]);
    for (const [within, call] of callParts(content).entries())
      calls.push({
        index: calls.length,
        id: call.id,
        name: call.name,
        args: call.args ?? {},
        response: responses[within]?.response,
      });
  }
  return calls;
}

/** How the calls of a turn, and the responses to them, are named on the wire, by their parts. */
export function nameCalls(seq: number, contents: readonly Content[]): ReadonlyMap<Part, string> {
  const names = new Map<Part, string>();
  let index = 0;
  for (const [place, content] of contents.entries()) {
    if (content.role !== 'model') continue;
    const responses = contents[place + 1]?.parts.filter((part) => part.functionResponse) ?? [];
    const calls = content.parts.filter((part) => part.functionCall);
    for (const [within, call] of calls.entries()) {
      const name = callId(seq, index++);
      names.set(call, name);
      const response = responses[within];
      if (response) names.set(response, name);
    }
  }
  return names;
}

/** The calls without a response. */
export const findOpenCalls = (contents: readonly Content[]): ToolCall[] =>
  findCalls(contents).filter(({ response }) => response === undefined);

/** The contents with the responses that `responseTo` has for open calls; what is answered stays. */
export function withResponses(
  contents: readonly Content[],
  responseTo: (call: ToolCall) => Record<string, unknown> | undefined,
): Content[] {
  const calls = findCalls(contents);
  let next = 0;
  return contents.map((content, place) => {
    const before = contents[place - 1];
    if (before?.role !== 'model' || !hasFunctionCall(before)) return content;
    const callsOfRound = calls.slice(next, (next += callParts(before).length));
    let within = 0;
    const parts = content.parts.map((part): Part => {
      if (part.functionResponse === undefined) return part;
      const call = callsOfRound[within++];
      const response = call && (call.response ?? responseTo(call));
      return response
        ? { ...part, functionResponse: { ...part.functionResponse, response } }
        : part;
    });
    return { ...content, parts };
  });
}

/** The contents of a turn that has ended: no call is without a response. */
export const endedContents = (contents: readonly Content[], reason: UnansweredReason): Content[] =>
  withResponses(contents, () => ({ error: reason }));

/** Calls of Google's own tools, and what they say of their results. */
const isServerCall = (part: Part): boolean =>
  part['toolCall'] !== undefined || part['toolResponse'] !== undefined;

/**
 * Contents of a turn that has ended, without the calls of Google's own tools: they go back to the model that made them
 * while it answers, and no other model, and none without these tools, takes them. Contents that have none are the same
 * objects; those with nothing else go.
 */
export const withoutServerCalls = (contents: readonly Content[]): Content[] =>
  contents.flatMap((content) => {
    if (!content.parts.some(isServerCall)) return [content];
    const parts = content.parts.filter((part) => !isServerCall(part));
    return parts.length === 0 ? [] : [{ ...content, parts }];
  });

/* What a response says. */

/** True and short: an empty response would say that the tool found nothing. */
const EMPTIED = { omitted: true };

/**
 * A tool's response in the shortest form that is still one: name, id and one word. Its call keeps its answer,
 * which a model insists on. Media inside the response go with it. A part that is no response stays as it is.
 */
export function emptiedResponse(part: Part): Part {
  if (part.functionResponse === undefined) return part;
  const { response: _response, parts: _media, ...named } = part.functionResponse;
  const { condensed: _condensed, ...rest } = part;
  return { ...rest, functionResponse: { ...named, response: EMPTIED } };
}

export interface ToolOutput {
  /** What is shortened. */
  text: string;
  /** The key of the response that the shortened text is written to. */
  key: string;
  /** Other fields of the response, kept beside the shortened text (exit code, status). */
  others: Readonly<Record<string, unknown>>;
}

/** Fields beside the text that together are longer than this count as part of the output. */
const OTHERS_CHARACTERS = 1_000;

/** The text of a function response: `output`, else `content`, else the whole response as JSON. */
export function toToolOutput(part: Part): ToolOutput | undefined {
  if (part.functionResponse === undefined) return undefined;
  const response = part.functionResponse.response ?? {};
  for (const key of ['output', 'content']) {
    const { [key]: text, ...others } = response;
    if (typeof text === 'string' && JSON.stringify(others).length <= OTHERS_CHARACTERS)
      return { text, key, others };
  }
  return { text: JSON.stringify(response, null, 2), key: 'output', others: {} };
}

/** The part with `text` in the place of its output; all else of the part stays. */
export function withOutput(part: Part, output: ToolOutput, text: string): Part {
  if (part.functionResponse === undefined) return part;
  const response = { ...output.others, [output.key]: text };
  const { condensed: _condensed, ...kept } = part;
  return { ...kept, functionResponse: { ...part.functionResponse, response } };
}

function condensedPart(part: Part): Part {
  const output = part.condensed === undefined ? undefined : toToolOutput(part);
  return output && part.condensed !== undefined ? withOutput(part, output, part.condensed) : part;
}

/** A content as prompts show it: what a model made of tool outputs, where one did. Others are the same objects. */
export const condensedContent = (content: Content): Content =>
  hasCondensed(content) ? { ...content, parts: content.parts.map(condensedPart) } : content;
