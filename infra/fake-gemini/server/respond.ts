import { contentUnits, cutToTokens, toTokens } from '#infra/fake-gemini/answers/token-rule.ts';
import { breaks, endings, type Fault, isOf, refusals } from './faults.ts';
import type { JournalEntry } from './journal.ts';
import type { GoogleError } from './refusals.ts';
import type { Reply } from './reply.ts';
import type { RequestPart } from './request.ts';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTick, setTimeout as delay } from 'node:timers/promises';

const tokensPerEvent = 8;

/** One event of an answer: a GenerateContentResponse, and the output tokens up to and with it. */
interface AnswerEvent {
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

/**
 * The answer in events, the finishReason on the last: one for generateContent, else one for each piece of text. Usage is
 * cumulative. With a fault that ends a stream early the text stops, and a last event carries the finishReason alone.
 */
function answerEvents({ entry, fault }: Exchange, reply: Reply): AnswerEvent[] {
  let textUnits = 0;
  let thoughtUnits = 0;
  const { toolTokens = 0 } = reply;
  const { promptTokens, cachedTokens } = entry;
  const usage = () => {
    const candidatesTokenCount = toTokens(textUnits);
    const thoughtsTokenCount = toTokens(thoughtUnits);
    return {
      ...(toolTokens > 0 && { toolUsePromptTokenCount: toolTokens }),
      promptTokenCount: promptTokens,
      ...(cachedTokens > 0 && { cachedContentTokenCount: cachedTokens }),
      candidatesTokenCount,
      thoughtsTokenCount,
      totalTokenCount: promptTokens + candidatesTokenCount + thoughtsTokenCount + toolTokens,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: promptTokens }],
    };
  };
  const event = (parts: readonly RequestPart[], end?: Reply): AnswerEvent => {
    for (const part of parts) {
      const units = contentUnits({ parts: [part] });
      if (part.thought === true) thoughtUnits += units;
      else textUnits += units;
    }
    const response = {
      ...(reply.instead ?? { candidates: [candidate(parts, end)] }),
      ...(fault?.kind !== 'missingUsage' && { usageMetadata: usage() }),
      modelVersion: entry.model,
      responseId: `fake-gemini-${entry.n}`,
    };
    return { response, outputTokens: toTokens(textUnits + thoughtUnits) };
  };

  const mostEvents = eventsBeforeFinish(fault);
  if (entry.operation !== 'streamGenerateContent') {
    const finishReason = fault?.kind === 'silentEnd' ? undefined : reply.finishReason;
    return [event(mostEvents === 0 ? [] : reply.parts, { ...reply, finishReason })];
  }
  const pieces = reply.parts.flatMap((part) => splitPart(part)).slice(0, mostEvents);
  const endsAlone = pieces.length === 0 || mostEvents !== undefined;
  const events = pieces.map((piece, index) =>
    event([piece], index === pieces.length - 1 && !endsAlone ? reply : undefined),
  );
  return endsAlone ? [...events, event([], reply)] : events;
}

/** How fast the model speaks. `tokensPerSecond` 0: as fast as the socket takes it. */
export interface Timing {
  timeToFirstTokenMs: number;
  tokensPerSecond: number;
}

export interface Exchange {
  response: ServerResponse;
  entry: JournalEntry;
  fault: Fault | undefined;
  /** As it is now: what is ordered holds for answers under way, too. */
  timing: () => Timing;
  /** Fires when the client has gone or the server closes. */
  signal: AbortSignal;
}

const longestTimerMs = 2 ** 31 - 1;

/** Resolves after `ms`, or when the signal fires; never rejects. */
export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await delay(Math.min(ms, longestTimerMs), undefined, { signal }).catch(() => {});
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' });
  response.end(JSON.stringify(body));
}

export function sendError(exchange: Exchange, error: GoogleError): void {
  exchange.entry.httpStatus = error.code;
  sendJson(exchange.response, error.code, { error });
}

const htmlBody = '<!DOCTYPE html>\n<html lang=en>\n<title>Error 502 (Server Error)!!1</title>\n';

const ofType = (type: string, fields: object): object => ({
  '@type': `type.googleapis.com/google.rpc.${type}`,
  ...fields,
});

function quotaError(retryDelayMs: number | undefined): GoogleError {
  const violations = [{ quotaId: 'GenerateRequestsPerMinutePerProjectPerModel' }];
  const details = [ofType('QuotaFailure', { violations })];
  if (retryDelayMs !== undefined)
    details.push(ofType('RetryInfo', { retryDelay: `${retryDelayMs / 1_000}s` }));
  return { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Quota exceeded.', details };
}

function toGoogleError(fault: Fault): GoogleError {
  const { kind, code = 503, status = 'UNAVAILABLE', message = 'An injected error.' } = fault;
  if (kind === 'quota') return quotaError(fault.retryDelayMs);
  if (kind === 'internal') return { code: 500, status: 'INTERNAL', message };
  const { reason } = fault;
  const details = reason === undefined ? undefined : [ofType('ErrorInfo', { reason })];
  return { code, status, message, ...(details && { details }) };
}

/** Answers a request with a fault that leaves nothing of the answer. False for every other fault. */
export async function sendFailure(exchange: Exchange): Promise<boolean> {
  const { entry, fault, response, signal } = exchange;
  if (fault === undefined) return false;
  if (isOf(refusals, fault)) {
    sendError(exchange, toGoogleError(fault));
  } else if (fault.kind === 'htmlBadGateway') {
    entry.httpStatus = 502;
    response.writeHead(502, { 'content-type': 'text/html; charset=UTF-8' }).end(htmlBody);
  } else if (fault.kind === 'hang') {
    await wait(Number.POSITIVE_INFINITY, signal);
  } else {
    return false;
  }
  return true;
}

/** Events of text before a finish that a fault orders; undefined: all of them. */
function eventsBeforeFinish(fault: Fault | undefined): number | undefined {
  if (!isOf(endings, fault)) return undefined;
  return fault?.kind === 'maxTokens' ? fault.afterEvents : (fault?.afterEvents ?? 0);
}

async function write({ fault, response, signal }: Exchange, text: string): Promise<void> {
  if (fault?.kind !== 'splitBytes') {
    if (!response.write(text)) await once(response, 'drain', { signal }).catch(() => {});
    return;
  }
  const bytes = Buffer.from(text);
  const { sizeBytes = 1 } = fault;
  for (let start = 0; start < bytes.length && !signal.aborted; start += sizeBytes) {
    response.write(bytes.subarray(start, start + sizeBytes));
    await nextTick();
  }
}

const toEvent = (body: object): string => `data: ${JSON.stringify(body)}\r\n\r\n`;

const firstHalf = (text: string): string => text.slice(0, Math.floor(text.length / 2));

const beforeResetMs = 50;

/** Ends an answer the way the fault wants it. */
async function breakOff(exchange: Exchange, text: string): Promise<void> {
  const { fault, response, signal } = exchange;
  if (fault?.kind === 'cut') {
    // A reset takes with it what the client has not read yet: give it the time to read.
    await wait(beforeResetMs, signal);
    response.socket?.resetAndDestroy();
    return;
  }
  if (fault?.kind === 'halfEvent') await write(exchange, firstHalf(text));
  if (fault?.kind === 'errorEvent') await write(exchange, toEvent({ error: toGoogleError(fault) }));
  response.end();
}

/** A wait looks so often whether the timing was changed. */
const LOOK_AT_TIMING_MS = 100;

/** Waits until the model has come so far at its pace. */
async function pace(
  { timing, signal }: Exchange,
  started: number,
  tokensBefore: number,
): Promise<void> {
  while (!signal.aborted) {
    const { timeToFirstTokenMs, tokensPerSecond } = timing();
    const speakingMs = tokensPerSecond > 0 ? (tokensBefore / tokensPerSecond) * 1_000 : 0;
    const leftMs = started + timeToFirstTokenMs + speakingMs - performance.now();
    if (leftMs <= 0) return;
    await wait(Math.min(leftMs, LOOK_AT_TIMING_MS), signal);
  }
}

/** Sends an answer, streamed or whole, with the pace and the fault of the exchange. */
export async function sendAnswer(exchange: Exchange, reply: Reply): Promise<void> {
  const { entry, fault, response, signal } = exchange;
  const isStreamed = entry.operation === 'streamGenerateContent';
  const events = answerEvents(exchange, reply);
  const started = performance.now();
  entry.finishReason = reply.finishReason;
  await pace(exchange, started, isStreamed ? 0 : (events[0]?.outputTokens ?? 0));
  if (signal.aborted) return;
  if (fault?.kind === 'errorEvent' && !isStreamed) return sendError(exchange, toGoogleError(fault));
  entry.httpStatus = 200;
  const type = isStreamed ? 'text/event-stream' : 'application/json; charset=UTF-8';
  response.writeHead(200, { 'content-type': type });
  response.flushHeaders();
  // A stream that is too short for the fault breaks before its last event: never a whole answer.
  const placeOfFault = Math.min(fault?.afterEvents ?? 1, events.length - 1);
  // A whole answer without an end is one without its finishReason.
  const isBroken = isOf(breaks, fault) && (isStreamed || fault?.kind !== 'silentEnd');
  for (const [index, event] of events.entries()) {
    const text = isStreamed ? toEvent(event.response) : JSON.stringify(event.response);
    if (isBroken && index === placeOfFault) return breakOff(exchange, text);
    if (fault?.kind === 'stall' && index === placeOfFault) await wait(fault.delayMs ?? 0, signal);
    await pace(exchange, started, events[index - 1]?.outputTokens ?? 0);
    if (signal.aborted) return;
    await write(exchange, text);
    entry.outputTokens = event.outputTokens;
  }
  if (fault?.kind === 'openEnd' && isStreamed) await wait(Number.POSITIVE_INFINITY, signal);
  response.end();
}
