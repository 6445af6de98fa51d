import type { Reply } from './reply.ts';
import type { RequestPart } from './request.ts';
import { contentUnits, cutToTokens, toTokens } from '../answers/token-rule.ts';
import type { EventEmitter } from 'node:events';

const longestTimerMs = 2 ** 31 - 1;

/** Resolves after `ms`, at the emitter's `drain`, or when the signal fires; never rejects. */
export function wait(ms: number, signal: AbortSignal, drains?: EventEmitter): Promise<void> {
  if (signal.aborted || ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.min(ms, longestTimerMs));
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      drains?.off('drain', done);
      resolve();
    }
    signal.addEventListener('abort', done);
    drains?.once('drain', done);
  });
}

const tokensPerEvent = 8;

export interface Usage {
  promptTokens: number;
  cachedTokens: number;
}

/** One event of an answer: a GenerateContentResponse, and the output tokens up to and with it. */
export interface AnswerEvent {
  response: object;
  outputTokens: number;
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

/** Output so far, in units of the token rule. */
interface Sent {
  said: number;
  thoughts: number;
}

function add(sent: Sent, part: RequestPart): Sent {
  const units = contentUnits({ parts: [part] });
  return part.thought === true
    ? { ...sent, thoughts: sent.thoughts + units }
    : { ...sent, said: sent.said + units };
}

function usageMetadata(usage: Usage, sent: Sent, toolTokens: number): object {
  const candidatesTokenCount = toTokens(sent.said);
  const thoughtsTokenCount = toTokens(sent.thoughts);
  return {
    ...(toolTokens > 0 && { toolUsePromptTokenCount: toolTokens }),
    promptTokenCount: usage.promptTokens,
    ...(usage.cachedTokens > 0 && { cachedContentTokenCount: usage.cachedTokens }),
    candidatesTokenCount,
    thoughtsTokenCount,
    totalTokenCount: usage.promptTokens + candidatesTokenCount + thoughtsTokenCount + toolTokens,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: usage.promptTokens }],
  };
}

/** What Google's tools found stands beside the finish. */
function candidate(
  parts: readonly RequestPart[],
  { finishReason, grounded }: Pick<Reply, 'finishReason' | 'grounded'> = {},
): object {
  return {
    content: { role: 'model', ...(parts.length > 0 && { parts }) },
    ...(finishReason !== undefined && { finishReason, ...grounded?.metadata }),
    index: 0,
  };
}

function withoutCandidates(reply: Reply): object | undefined {
  if (reply.blockReason !== undefined) {
    return { promptFeedback: { blockReason: reply.blockReason } };
  }
  if (reply.noCandidates === 'missing') return {};
  return reply.noCandidates === 'emptyList' ? { candidates: [] } : undefined;
}

interface AnswerOptions {
  reply: Reply;
  usage: Usage;
  /** Fields that every response has: modelVersion, responseId. */
  identity: object;
  withUsage: boolean;
}

function respond(options: AnswerOptions, sent: Sent, payload: object): AnswerEvent {
  const toolTokens = options.reply.grounded?.toolTokens ?? 0;
  const usage = options.withUsage && {
    usageMetadata: usageMetadata(options.usage, sent, toolTokens),
  };
  return {
    response: { ...payload, ...usage, ...options.identity },
    outputTokens: toTokens(sent.said + sent.thoughts),
  };
}

/** The whole answer as one response, as generateContent gives it. */
export function wholeAnswer(options: AnswerOptions): AnswerEvent {
  const { reply } = options;
  const sent = reply.parts.reduce<Sent>(add, { said: 0, thoughts: 0 });
  const payload = withoutCandidates(reply) ?? {
    candidates: [candidate(reply.parts, reply)],
  };
  return respond(options, sent, payload);
}

/**
 * The answer as a stream: usage is cumulative, finishReason is on the last event only.
 * With `mostEvents` the text stops after so many events and a last one carries the finishReason alone.
 */
export function answerEvents(options: AnswerOptions & { mostEvents?: number }): AnswerEvent[] {
  const { reply } = options;
  let sent: Sent = { said: 0, thoughts: 0 };
  const bare = withoutCandidates(reply);
  if (bare !== undefined) return [respond(options, sent, bare)];
  const all = reply.parts.flatMap((part) => splitPart(part));
  const pieces = all.slice(0, options.mostEvents ?? all.length);
  const endsAlone = pieces.length === 0 || options.mostEvents !== undefined;
  const events = pieces.map((piece, index) => {
    sent = add(sent, piece);
    const isLast = index === pieces.length - 1 && !endsAlone;
    const end = isLast ? reply : undefined;
    return respond(options, sent, { candidates: [candidate([piece], end)] });
  });
  if (endsAlone) {
    events.push(respond(options, sent, { candidates: [candidate([], reply)] }));
  }
  return events;
}
