import type { Reply } from './reply.ts';
import type { RequestPart } from './request.ts';
import { contentUnits, cutToTokens, toTokens } from '../answers/token-rule.ts';

const tokensPerEvent = 8;

/** One event of an answer: a GenerateContentResponse, and the output tokens up to and with it. */
export interface AnswerEvent {
  response: object;
  outputTokens: number;
}

interface AnswerOptions {
  reply: Reply;
  usage: { promptTokens: number; cachedTokens: number };
  /** Fields that every response has: modelVersion, responseId. */
  identity: object;
  withUsage: boolean;
}

/** A text part in pieces of about eight tokens, never within a code point; its signature is on the last. */
function splitPart(part: RequestPart): RequestPart[] {
  if (part.text === undefined || part.text === '') return [part];
  const { thoughtSignature, text, ...rest } = part;
  const pieces: RequestPart[] = [];
  let left = text;
  while (left !== '') {
    const piece = cutToTokens(left, tokensPerEvent);
    pieces.push({ ...rest, text: piece });
    left = left.slice(piece.length);
  }
  const last = pieces.at(-1);
  if (last !== undefined && thoughtSignature !== undefined)
    last.thoughtSignature = thoughtSignature;
  return pieces;
}

/** What Google's tools found stands beside the finish. */
function candidate(parts: readonly RequestPart[], end?: Reply): object {
  return {
    content: { role: 'model', ...(parts.length > 0 && { parts }) },
    ...(end?.finishReason !== undefined && {
      finishReason: end.finishReason,
      ...end.metadata,
    }),
    index: 0,
  };
}

/** Output so far, in units of the token rule. */
interface Sent {
  text: number;
  thoughts: number;
}

const nothing: Sent = { text: 0, thoughts: 0 };

function add({ text, thoughts }: Sent, part: RequestPart): Sent {
  const units = contentUnits({ parts: [part] });
  return part.thought === true
    ? { text, thoughts: thoughts + units }
    : { text: text + units, thoughts };
}

/** A response with the usage up to and with it. */
function respond(
  { reply, usage, identity, withUsage }: AnswerOptions,
  sent: Sent,
  payload: object,
): AnswerEvent {
  const candidatesTokenCount = toTokens(sent.text);
  const thoughtsTokenCount = toTokens(sent.thoughts);
  const { toolTokens = 0 } = reply;
  const usageMetadata = {
    ...(toolTokens > 0 && { toolUsePromptTokenCount: toolTokens }),
    promptTokenCount: usage.promptTokens,
    ...(usage.cachedTokens > 0 && { cachedContentTokenCount: usage.cachedTokens }),
    candidatesTokenCount,
    thoughtsTokenCount,
    totalTokenCount: usage.promptTokens + candidatesTokenCount + thoughtsTokenCount + toolTokens,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: usage.promptTokens }],
  };
  return {
    response: { ...payload, ...(withUsage && { usageMetadata }), ...identity },
    outputTokens: toTokens(sent.text + sent.thoughts),
  };
}

function withoutCandidates({ blockReason, noCandidates }: Reply): object | undefined {
  if (blockReason !== undefined) return { promptFeedback: { blockReason } };
  if (noCandidates === 'missing') return {};
  return noCandidates === 'emptyList' ? { candidates: [] } : undefined;
}

/** The whole answer as one response, as generateContent gives it. */
export function wholeAnswer(options: AnswerOptions): AnswerEvent {
  const { reply } = options;
  const payload = withoutCandidates(reply) ?? { candidates: [candidate(reply.parts, reply)] };
  return respond(options, reply.parts.reduce(add, nothing), payload);
}

/**
 * The answer as a stream: usage is cumulative, finishReason is on the last event only.
 * With `mostEvents` the text stops after so many events and a last one carries the finishReason alone.
 */
export function answerEvents(options: AnswerOptions & { mostEvents?: number }): AnswerEvent[] {
  const { reply, mostEvents } = options;
  let sent = nothing;
  const bare = withoutCandidates(reply);
  if (bare !== undefined) return [respond(options, sent, bare)];
  const pieces = reply.parts.flatMap((part) => splitPart(part)).slice(0, mostEvents);
  const endsAlone = pieces.length === 0 || mostEvents !== undefined;
  const events = pieces.map((piece, index) => {
    sent = add(sent, piece);
    const isEnd = index === pieces.length - 1 && !endsAlone;
    return respond(options, sent, { candidates: [candidate([piece], isEnd ? reply : undefined)] });
  });
  if (endsAlone) events.push(respond(options, sent, { candidates: [candidate([], reply)] }));
  return events;
}
