import { guardServer } from '#functions/lib/guard-server.ts';
import { refreshRemote } from '#functions/config/remote-documents.ts';
import { eraseConversation } from '#functions/erasure/erase-conversation.ts';
import { publishToWorkers } from '#functions/events/publish-request.ts';
import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { timeoutAfter } from '#functions/lib/deadline.ts';
import { stackFrames } from '#functions/lib/failure-reason.ts';
import { bodyTooLarge, readBytes } from '#functions/lib/read-bytes.ts';
import { readTrace, withTrace, TRACE_ATTRIBUTE } from '#functions/lib/trace.ts';
import { indexConversation } from '#functions/recall/index-turns.ts';
import { StoppedError } from '#functions/worker/compaction/job-lease.ts';
import { runWhenDue, SHORT_PAUSE_MS } from '#functions/worker/compaction/run-compaction.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { deliverEvent } from '#functions/worker/notifications/deliver-event.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { type WorkerEvent, workerEventSchema } from '#shared/compaction/event.ts';
import { AppError } from '#shared/lib/errors.ts';
import { readPublishedEvent, type PublishedEvent } from '#shared/notification/published-event.ts';
import { errorReply } from '#shared/wire/errors/error-body.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';

type PushHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

type Answer = { kind: 'acknowledged' } | { kind: 'refused'; error: unknown };

const ACKNOWLEDGED: Answer = { kind: 'acknowledged' };

/**
 * The HTTP function behind the push subscriptions: compaction requests, erasures, indexing and sweeps, and the events that
 * users' devices and the operator are told of. 204 acknowledges: done, nothing to do, to be done later (the documents
 * say so), or hopeless (logged). 503 with Retry-After has it delivered again: the store does not answer, or a device or
 * the operator could not be told. 500 is a defect: after the configured attempts the event is a dead letter. 405, 401 and
 * 403 for anybody else: the token is checked before a byte of the body is read.
 */
export function createPushHandler(dependencies: WorkerDependencies): PushHandler {
  return async (request, response) => {
    if ('server' in request.socket) guardServer(request.socket.server);
    let answer: Answer;
    try {
      answer = await withinTime(dependencies, response, (signal) =>
        answerPush(dependencies, request, signal),
      );
    } catch (error) {
      answer = answerToFailure(dependencies, error);
    }
    // Close the connection: do not read the rest of a refused body.
    if (answer.kind === 'refused' && !request.complete) response.shouldKeepAlive = false;
    if (!response.writableEnded && !response.destroyed) send(response, answer);
    await passWorkerCrashPoint(dependencies, 'acknowledged');
  };
}

/**
 * Stops the work after `COMPACTION_TIMEOUT_MS`, when nobody waits for the answer any more, or when the
 * process is about to end: the lease goes back at once and the next instance begins anew.
 */
async function withinTime<T>(
  dependencies: WorkerDependencies,
  response: ServerResponse,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { shutdown, config } = dependencies;
  const stopped = (reason: string) => new StoppedError({ state: 'ABORTED', reason });
  const timeLimit = timeoutAfter(dependencies, config.COMPACTION_TIMEOUT_MS, () =>
    stopped('DEADLINE'),
  );
  const interrupted = new AbortController();
  const onClose = () => {
    if (!response.writableFinished) interrupted.abort(stopped('CALLER_LEFT'));
  };
  const onShutdown = () => interrupted.abort(stopped('SHUTTING_DOWN'));
  response.once('close', onClose);
  shutdown.addEventListener('abort', onShutdown, { once: true });
  if (shutdown.aborted) onShutdown();
  try {
    return await work(AbortSignal.any([timeLimit.signal, interrupted.signal]));
  } finally {
    timeLimit.stop();
    response.off('close', onClose);
    shutdown.removeEventListener('abort', onShutdown);
  }
}

async function answerPush(
  dependencies: WorkerDependencies,
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<Answer> {
  if (request.method !== 'POST') return { kind: 'refused', error: notAPush() };
  try {
    await dependencies.pushTokens.verify(request.headers.authorization);
  } catch (error) {
    // Keys that cannot be fetched are an outage and no verdict on the caller.
    if (!(error instanceof AppError) || error.status !== 'UNAUTHENTICATED') throw error;
    return { kind: 'refused', error };
  }
  const push = await readPush(request);
  const traced = withTrace(dependencies, traceOf(push, request));
  try {
    return await handlePush(traced, push, signal);
  } catch (error) {
    return answerToFailure(traced, error);
  }
}

const notAPush = () =>
  new AppError({
    reason: 'METHOD_NOT_ALLOWED',
    publicMessage: 'Only Pub/Sub pushes (POST) are taken here.',
    metadata: { allow: 'POST' },
  });

/** Does what a push asks for, or notes that nobody can read it. Whatever does not throw is acknowledged. */
async function handlePush(
  dependencies: WorkerDependencies,
  push: DecodedPush,
  signal: AbortSignal,
): Promise<Answer> {
  await refreshRemote(dependencies.config);
  switch (push.kind) {
    case 'event':
      await workOrPublishAnew(dependencies, push, signal);
      break;
    case 'published':
      await deliverEvent(dependencies, { event: push.event, id: push.delivery.messageId }, signal);
      break;
    case 'malformed':
      dependencies.logger.log('ERROR', 'compaction_push_malformed', { problem: push.problem });
  }
  return ACKNOWLEDGED;
}

/** An event of the worker's topic, with its delivery. */
interface WorkerPush<Event extends WorkerEvent = WorkerEvent> {
  event: Event;
  delivery: Delivery;
}

/**
 * Works on an event. Where the signal stops the work, the event is published anew, so that another instance goes on at
 * once. Where the caller has left, Pub/Sub delivers again by itself.
 */
async function workOrPublishAnew(
  dependencies: WorkerDependencies,
  push: WorkerPush,
  signal: AbortSignal,
): Promise<void> {
  try {
    await workOn(dependencies, push, signal);
  } catch (error) {
    if (!(error instanceof StoppedError) || error.reason === 'CALLER_LEFT') throw error;
    await dependencies.publisher.publish({ topic: 'compaction', data: push.event });
    dependencies.logger.log('INFO', 'compaction_push_stopped', { reason: error.reason });
  }
}

/** Throws the signal's reason where it fires before the work is done. */
async function workOn(
  dependencies: WorkerDependencies,
  { event, delivery }: WorkerPush,
  signal: AbortSignal,
): Promise<void> {
  switch (event.kind) {
    case 'compact':
      await compact(dependencies, { event, delivery }, signal);
      break;
    case 'erase':
      await eraseConversation(dependencies, event.conversationId, signal);
      break;
    case 'index': {
      const { conversationId, isBroken = false } = event;
      await indexConversation(dependencies, { conversationId, isBroken }, signal);
      break;
    }
    case 'sweep':
      // What could not be done now is met again in five minutes: nothing to deliver twice.
      await runSweep(dependencies, signal);
  }
}

/** What is to be done later stands in the documents, so the event is done all the same. */
async function compact(
  dependencies: WorkerDependencies,
  push: WorkerPush<Extract<WorkerEvent, { kind: 'compact' }>>,
  signal: AbortSignal,
): Promise<void> {
  const { conversationId, requestId } = push.event;
  const result = await runWhenDue(dependencies, { conversationId, signal });
  dependencies.logger.log('INFO', 'compaction_push_handled', {
    conversationId,
    requestId,
    ...push.delivery,
    result: result.kind,
    reason: result.reason,
  });
  if (result.kind === 'retry') {
    signal.throwIfAborted();
    // The events that wait in the queue come first. The delivery of this one finds the pause, and waits (`runWhenDue`).
    if (result.retryAfterMs <= SHORT_PAUSE_MS)
      await publishToWorkers(dependencies, { conversationId, requestId });
  }
}

/* How a push is answered. */

/** The answer to a failure outside of any run. */
function answerToFailure(dependencies: WorkerDependencies, error: unknown): Answer {
  if (!(error instanceof AppError)) {
    const fields =
      error instanceof Error
        ? { error: error.name, stack: stackFrames(error) }
        : { error: typeof error };
    dependencies.logger.log('ERROR', 'compaction_push_failed', fields);
    // A defect: a few more deliveries, then the dead-letter topic keeps it and alerts.
    return { kind: 'refused', error };
  }
  const { reason, retryable, retryAfterMs } = error;
  dependencies.logger.log(retryable ? 'WARNING' : 'ERROR', 'compaction_push_failed', { reason });
  return retryable ? deliverAgain(reason, retryAfterMs ?? 1_000) : ACKNOWLEDGED;
}

/** Pub/Sub delivers again after anything but an acknowledgement. */
const deliverAgain = (reason: string, retryAfterMs: number): Answer => ({
  kind: 'refused',
  error: new AppError({
    status: 'UNAVAILABLE',
    reason,
    message: `the event is to be delivered again: ${reason}`,
    publicMessage: 'Not done yet; deliver the event again.',
    retryAfterMs: Math.max(1, retryAfterMs),
  }),
});

function send(response: ServerResponse, answer: Answer): void {
  if (answer.kind === 'acknowledged') {
    // Pub/Sub counts it as an acknowledgement; 202 would not be one for the emulator.
    response.writeHead(204).end();
    return;
  }
  const { httpStatus, headers, body } = errorReply(answer.error);
  response
    .writeHead(httpStatus, { ...headers, 'content-type': 'application/json; charset=utf-8' })
    .end(JSON.stringify(body));
}

/* How a push is read. */

/** A compaction request is a few hundred bytes; more than this is none. */
export const MAX_PUSH_BYTES = 64 * 1024;

/** What Pub/Sub posts; fields that are not needed are left unread. */
const pushSchema = z.object({
  message: z.object({
    data: z.base64(),
    messageId: z.string(),
    /** The service sets texts alone. */
    attributes: z.record(z.string(), z.unknown()).nullish(),
  }),
  /** Only with a dead-letter topic, and never from the emulator. */
  deliveryAttempt: z.number().int().positive().optional(),
});

/** How the bus names a delivery; for logs. */
interface Delivery {
  messageId: string;
  deliveryAttempt?: number;
}

interface Carried {
  delivery: Delivery;
  /** The trace of the request that published it, as it was written there. */
  traceparent?: string;
}

type DecodedPush =
  /** Of the worker's topic: there may be something to do. */
  | (Carried & { kind: 'event'; event: WorkerEvent })
  /** Of the events topic: something has happened, and devices or the operator are to be told. */
  | (Carried & { kind: 'published'; event: PublishedEvent })
  /** Nobody will ever be able to read it: it is logged and acknowledged, or it would come back for ever. */
  | { kind: 'malformed'; problem: string };

/** Reads the push of a caller whose token was checked. One that is too large is malformed: it would come back as large. */
async function readPush(request: IncomingMessage): Promise<DecodedPush> {
  // `guardServer` takes the length off `headers`.
  const announcedBytes = Number(request.headersDistinct['content-length']?.[0] ?? 0);
  try {
    if (announcedBytes > MAX_PUSH_BYTES) throw bodyTooLarge(MAX_PUSH_BYTES);
    // To destroy the request would close the connection before the answer is sent.
    const chunks: AsyncIterable<Uint8Array> = request.iterator({ destroyOnReturn: false });
    return decodePush(await readBytes(chunks, MAX_PUSH_BYTES));
  } catch (error) {
    if (!(error instanceof AppError) || error.reason !== 'BODY_TOO_LARGE') throw error;
    return { kind: 'malformed', problem: `more than ${MAX_PUSH_BYTES} bytes` };
  }
}

/**
 * Reads the body of a Pub/Sub push: events of the worker's topic have a `kind` or none, those of the events topic a
 * `type`. Messages without data, of an unknown kind or too large are malformed.
 * Never throws.
 */
export function decodePush(body: Uint8Array): DecodedPush {
  if (body.byteLength > MAX_PUSH_BYTES)
    return malformed(`${body.byteLength} bytes are more than ${MAX_PUSH_BYTES}`);
  const push = pushSchema.safeParse(parseJson(Buffer.from(body).toString('utf8')));
  if (!push.success) return malformed(`no push: ${fieldsOf(push.error)}`);
  const { message, deliveryAttempt } = push.data;
  const data = parseJson(Buffer.from(message.data, 'base64').toString('utf8'));
  const delivery = {
    messageId: message.messageId,
    ...(deliveryAttempt !== undefined && { deliveryAttempt }),
  };
  const traceparent = message.attributes?.[TRACE_ATTRIBUTE];
  const carried = { delivery, ...(typeof traceparent === 'string' && { traceparent }) };
  const published = readPublishedEvent(data);
  if (published.success) return { kind: 'published', event: published.data, ...carried };
  const event = workerEventSchema.safeParse(data);
  if (!event.success) return malformed(`no event of the worker: ${fieldsOf(event.error)}`);
  return { kind: 'event', event: event.data, ...carried };
}

const malformed = (problem: string): DecodedPush => ({ kind: 'malformed', problem });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Names the fields that are wrong and never their values. */
const fieldsOf = (error: z.ZodError) =>
  error.issues.map(({ path, code }) => `${path.join('.')} (${code})`).join(', ');

/** The trace of the request that published the event; else that of the push itself. */
const traceOf = (push: DecodedPush, { headersDistinct: headers }: IncomingMessage) =>
  readTrace(push.kind === 'malformed' ? undefined : push.traceparent) ??
  readTrace(headers['traceparent']?.[0]);
