import type { ServerResponse } from 'node:http';
import { setImmediate as nextTick } from 'node:timers/promises';
import { type AnswerEvent, answerEvents, type Usage, wholeAnswer, wait } from './events.ts';
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

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' });
  response.end(JSON.stringify(body));
}

export function sendError(exchange: Exchange, error: GoogleError): void {
  exchange.entry.httpStatus = error.code;
  sendJson(exchange.response, error.code, { error });
}

const htmlBody =
  '<!DOCTYPE html>\n<html lang=en>\n<title>Error 502 (Server Error)!!1</title>\n<p>The server encountered a temporary error.</p>\n</html>\n';

function quotaError(retryDelayMs: number | undefined): GoogleError {
  const failure = {
    '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
    violations: [
      { quotaId: 'GenerateRequestsPerMinutePerProjectPerModel', quotaMetric: 'generate_requests' },
    ],
  };
  const retry = {
    '@type': 'type.googleapis.com/google.rpc.RetryInfo',
    retryDelay: `${(retryDelayMs ?? 0) / 1_000}s`,
  };
  return {
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: 'You exceeded your current quota, please check your plan and billing details.',
    details: retryDelayMs === undefined ? [failure] : [failure, retry],
  };
}

function failureOf(fault: Fault | undefined): GoogleError | undefined {
  if (fault?.kind === 'quota') return quotaError(fault.retryDelayMs);
  if (fault?.kind === 'http') {
    const { code, status, message = 'An injected error.', reason } = fault;
    const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason };
    return { code, status, message, ...(reason !== undefined && { details: [info] }) };
  }
  if (fault?.kind === 'internal') {
    return { code: 500, status: 'INTERNAL', message: 'An internal error has occurred.' };
  }
  if (fault?.kind !== 'unavailable') return undefined;
  const message = 'The model is overloaded. Please try again later.';
  return { code: 503, status: 'UNAVAILABLE', message };
}

/** Answers a request with a fault that leaves nothing of the answer. False for every other fault. */
export async function sendFailure(exchange: Exchange): Promise<boolean> {
  const { entry, fault, response, signal } = exchange;
  const failure = failureOf(fault);
  if (failure !== undefined) {
    sendError(exchange, failure);
  } else if (fault?.kind === 'htmlBadGateway') {
    entry.httpStatus = 502;
    response.writeHead(502, { 'content-type': 'text/html; charset=UTF-8' }).end(htmlBody);
  } else if (fault?.kind === 'hang') {
    await wait(Number.POSITIVE_INFINITY, signal);
  } else {
    return false;
  }
  return true;
}

/** Events of text before a finish that a fault orders; undefined: all of them. */
function eventsBeforeFinish(fault: Fault | undefined): number | undefined {
  if (fault === undefined || finishReasons[fault.kind] === undefined) return undefined;
  const afterEvents = 'afterEvents' in fault ? fault.afterEvents : undefined;
  return fault.kind === 'maxTokens' ? afterEvents : (afterEvents ?? 0);
}

async function write(exchange: Exchange, text: string): Promise<void> {
  const { fault, response, signal } = exchange;
  if (fault?.kind !== 'splitBytes') {
    if (!response.write(text)) await wait(Number.POSITIVE_INFINITY, signal, response);
    return;
  }
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length && !signal.aborted; start += fault.sizeBytes) {
    response.write(bytes.subarray(start, start + fault.sizeBytes));
    await nextTick();
  }
}

function toEvent(body: object): string {
  return `data: ${JSON.stringify(body)}\r\n\r\n`;
}

function streamError(fault: Fault & { kind: 'errorEvent' }): GoogleError {
  const message = 'An error injected into the answer.';
  return { code: fault.code ?? 503, status: fault.status ?? 'UNAVAILABLE', message };
}

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
  if (fault?.kind === 'halfEvent') {
    const whole = toEvent(event.response);
    await write(exchange, whole.slice(0, Math.floor(whole.length / 2)));
  }
  if (fault?.kind === 'errorEvent') await write(exchange, toEvent({ error: streamError(fault) }));
  response.end();
}

const breakingKinds: readonly Fault['kind'][] = ['cut', 'silentEnd', 'halfEvent', 'errorEvent'];

/** Events before the stream breaks, if it is to break. */
function breaksAfter(fault: Fault | undefined): number | undefined {
  if (fault === undefined || !breakingKinds.includes(fault.kind)) return undefined;
  return 'afterEvents' in fault ? (fault.afterEvents ?? 1) : 1;
}

/** A wait looks so often whether the timing was changed. */
const LOOK_AT_TIMING_MS = 100;

async function pace(exchange: Exchange, started: number, tokensBefore: number): Promise<void> {
  const { timing, signal } = exchange;
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
  const breakIndex = breaksAfter(fault);
  await pace(exchange, started, 0);
  if (signal.aborted) return;
  entry.httpStatus = 200;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  for (const [index, event] of events.entries()) {
    // A stream that is too short for the fault breaks before its last event: never a whole answer.
    if (breakIndex !== undefined && index >= Math.min(breakIndex, events.length - 1)) {
      return breakOff(exchange, event);
    }
    if (fault?.kind === 'stall' && index === (fault.afterEvents ?? 1)) {
      await wait(fault.delayMs, signal);
    }
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
  if (fault?.kind === 'stall') await wait(fault.delayMs, signal);
  if (signal.aborted) return;
  if (fault?.kind === 'errorEvent') {
    sendError(exchange, streamError(fault));
    return;
  }
  const text = JSON.stringify(answer.response);
  entry.httpStatus = 200;
  response.writeHead(200, { 'content-type': 'application/json; charset=UTF-8' });
  if (fault?.kind === 'cut' || fault?.kind === 'halfEvent') {
    await write(exchange, text.slice(0, Math.floor(text.length / 2)));
    await nextTick();
    if (fault.kind === 'cut') response.socket?.resetAndDestroy();
    else response.end();
    return;
  }
  await write(exchange, text);
  entry.outputTokens = answer.outputTokens;
  response.end();
}

/** Sends an answer, streamed or whole, with the pace and the fault of the exchange. */
export async function sendAnswer(exchange: Exchange, reply: Reply, usage: Usage): Promise<void> {
  const { entry, fault } = exchange;
  const identity = { modelVersion: entry.model, responseId: `stand-in-${entry.n}` };
  const withUsage = fault?.kind !== 'missingUsage';
  entry.finishReason = reply.finishReason ?? reply.blockReason;
  if (entry.operation === 'streamGenerateContent') {
    const mostEvents = eventsBeforeFinish(fault);
    await stream(exchange, answerEvents({ reply, usage, identity, withUsage, mostEvents }));
    return;
  }
  const isSilent = fault?.kind === 'silentEnd';
  const said = isSilent ? { ...reply, finishReason: undefined } : reply;
  const parts = eventsBeforeFinish(fault) === 0 ? [] : said.parts;
  await sendWhole(exchange, wholeAnswer({ reply: { ...said, parts }, usage, identity, withUsage }));
}
