import type { ServerResponse } from 'node:http';
import { setImmediate as nextTick } from 'node:timers/promises';
import { type AnswerEvent, answerEvents, wholeAnswer } from './events.ts';
import { type Fault, finishReasons } from './faults.ts';
import type { GoogleError } from './refusals.ts';
import type { JournalEntry } from './journal.ts';
import type { Reply } from './reply.ts';

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

/** Resolves after `ms`, when the response takes more text, or when the signal fires; never rejects. */
export function wait(ms: number, signal: AbortSignal, full?: ServerResponse): Promise<void> {
  if (signal.aborted || ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.min(ms, longestTimerMs));
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      full?.off('drain', done);
      resolve();
    }
    signal.addEventListener('abort', done);
    full?.once('drain', done);
  });
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

const refusingKinds: readonly Fault['kind'][] = ['quota', 'internal', 'unavailable', 'http'];

/** Answers a request with a fault that leaves nothing of the answer. False for every other fault. */
export async function sendFailure(exchange: Exchange): Promise<boolean> {
  const { entry, fault, response, signal } = exchange;
  if (fault === undefined) return false;
  if (refusingKinds.includes(fault.kind)) {
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
  if (fault === undefined || finishReasons[fault.kind] === undefined) return undefined;
  return fault.kind === 'maxTokens' ? fault.afterEvents : (fault.afterEvents ?? 0);
}

async function write({ fault, response, signal }: Exchange, text: string): Promise<void> {
  if (fault?.kind !== 'splitBytes') {
    if (!response.write(text)) await wait(Number.POSITIVE_INFINITY, signal, response);
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

/** Ends a stream the way the fault wants it. */
async function breakOff(exchange: Exchange, event: AnswerEvent): Promise<void> {
  const { fault, response, signal } = exchange;
  if (fault?.kind === 'cut') {
    // A reset takes with it what the client has not read yet: give it the time to read.
    await wait(beforeResetMs, signal);
    response.socket?.resetAndDestroy();
    return;
  }
  if (fault?.kind === 'halfEvent') await write(exchange, firstHalf(toEvent(event.response)));
  if (fault?.kind === 'errorEvent') await write(exchange, toEvent({ error: toGoogleError(fault) }));
  response.end();
}

const breakingKinds: readonly Fault['kind'][] = ['cut', 'silentEnd', 'halfEvent', 'errorEvent'];

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

async function stream(exchange: Exchange, events: readonly AnswerEvent[]): Promise<void> {
  const { entry, fault, response, signal } = exchange;
  const started = performance.now();
  const breaks = fault !== undefined && breakingKinds.includes(fault.kind);
  await pace(exchange, started, 0);
  if (signal.aborted) return;
  entry.httpStatus = 200;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  for (const [index, event] of events.entries()) {
    // A stream that is too short for the fault breaks before its last event: never a whole answer.
    if (breaks && index >= Math.min(fault.afterEvents ?? 1, events.length - 1))
      return breakOff(exchange, event);
    if (fault?.kind === 'stall' && index === (fault.afterEvents ?? 1))
      await wait(fault.delayMs ?? 0, signal);
    await pace(exchange, started, events[index - 1]?.outputTokens ?? 0);
    if (signal.aborted) return;
    await write(exchange, toEvent(event.response));
    entry.outputTokens = event.outputTokens;
  }
  if (fault?.kind === 'openEnd') await wait(Number.POSITIVE_INFINITY, signal);
  response.end();
}

async function sendWhole(exchange: Exchange, answer: AnswerEvent): Promise<void> {
  const { entry, fault, response, signal } = exchange;
  await pace(exchange, performance.now(), answer.outputTokens);
  if (fault?.kind === 'stall') await wait(fault.delayMs ?? 0, signal);
  if (signal.aborted) return;
  if (fault?.kind === 'errorEvent') return sendError(exchange, toGoogleError(fault));
  const isBroken = fault?.kind === 'cut' || fault?.kind === 'halfEvent';
  const text = JSON.stringify(answer.response);
  entry.httpStatus = 200;
  response.writeHead(200, { 'content-type': 'application/json; charset=UTF-8' });
  await write(exchange, isBroken ? firstHalf(text) : text);
  if (isBroken) await nextTick();
  else entry.outputTokens = answer.outputTokens;
  if (fault?.kind === 'cut') response.socket?.resetAndDestroy();
  else response.end();
}

/** Sends an answer, streamed or whole, with the pace and the fault of the exchange. */
export async function sendAnswer(exchange: Exchange, reply: Reply): Promise<void> {
  const { entry, fault } = exchange;
  const options = {
    usage: entry,
    identity: { modelVersion: entry.model, responseId: `stand-in-${entry.n}` },
    withUsage: fault?.kind !== 'missingUsage',
  };
  const mostEvents = eventsBeforeFinish(fault);
  entry.finishReason = reply.finishReason ?? reply.blockReason;
  if (entry.operation === 'streamGenerateContent')
    return stream(exchange, answerEvents({ ...options, reply, mostEvents }));
  const finishReason = fault?.kind === 'silentEnd' ? undefined : reply.finishReason;
  const parts = mostEvents === 0 ? [] : reply.parts;
  return sendWhole(exchange, wholeAnswer({ ...options, reply: { ...reply, finishReason, parts } }));
}
