import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../../../shared/errors.ts';
import type { CompactionDependencies } from './compaction-dependencies.ts';
import { decodePush, type DecodedPush } from './decode-push.ts';
import { StoppedError } from './outcome.ts';
import { runCompaction } from './run-compaction.ts';

/** A request of functions-framework: Node's own, with the bytes of its body. */
export type PushRequest = IncomingMessage & { rawBody?: Uint8Array };

type CompactionHandler = (request: PushRequest, response: ServerResponse) => Promise<void>;

interface Answer {
  httpStatus: number;
  retryAfterMs?: number;
  error?: { status: string; message: string; reason: string };
}

/** Pub/Sub counts it as an acknowledgement; 202 would not be one for the emulator. */
const ACKNOWLEDGED: Answer = { httpStatus: 204 };

const refused = (httpStatus: number, error: NonNullable<Answer['error']>): Answer => ({
  httpStatus,
  error,
});

/** Pub/Sub delivers again after anything but an acknowledgement. */
const again = (reason: string, retryAfterMs: number): Answer => ({
  httpStatus: 503,
  retryAfterMs,
  error: { status: 'UNAVAILABLE', reason, message: 'Not done yet; deliver the event again.' },
});

function send(response: ServerResponse, answer: Answer): void {
  response.statusCode = answer.httpStatus;
  if (answer.retryAfterMs !== undefined)
    response.setHeader('retry-after', String(Math.max(1, Math.ceil(answer.retryAfterMs / 1_000))));
  if (answer.error === undefined) {
    response.end();
    return;
  }
  const { status, message, reason } = answer.error;
  const type = 'type.googleapis.com/google.rpc.ErrorInfo';
  const details = [{ '@type': type, reason, domain: 'recap' }];
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.end(JSON.stringify({ error: { code: answer.httpStatus, status, message, details } }));
}

/** The answer to a failure outside of any run; the only place of the worker that translates errors. */
function answerOf(dependencies: CompactionDependencies, error: unknown): Answer {
  if (!(error instanceof AppError)) {
    const name = error instanceof Error ? error.name : typeof error;
    dependencies.logger.log('ERROR', 'compaction_push_failed', { error: name });
    // A defect: a few more deliveries, then the dead-letter topic keeps it and alerts.
    return refused(500, { status: 'INTERNAL', reason: 'INTERNAL', message: 'Internal error.' });
  }
  const { reason, retryable, retryAfterMs } = error;
  dependencies.logger.log(retryable ? 'WARNING' : 'ERROR', 'compaction_push_failed', { reason });
  return retryable ? again(reason, retryAfterMs ?? 1_000) : ACKNOWLEDGED;
}

async function compact(
  dependencies: CompactionDependencies,
  push: Extract<DecodedPush, { kind: 'compact' }>,
  signal: AbortSignal,
): Promise<Answer> {
  const { conversationId, requestId, messageId, deliveryAttempt } = push;
  const result = await runCompaction(dependencies, { conversationId, signal });
  dependencies.logger.log('INFO', 'compaction_push_handled', {
    conversationId,
    requestId,
    messageId,
    deliveryAttempt,
    result: result.kind,
    reason: result.reason,
  });
  return result.kind === 'done' ? ACKNOWLEDGED : again(result.reason, result.retryAfterMs);
}

async function answerPush(
  dependencies: CompactionDependencies,
  request: PushRequest,
  signal: AbortSignal,
): Promise<Answer> {
  if (request.method !== 'POST')
    return refused(405, {
      status: 'INVALID_ARGUMENT',
      reason: 'METHOD_NOT_ALLOWED',
      message: 'Only Pub/Sub pushes (POST) are taken here.',
    });
  try {
    await dependencies.pushTokens.verify(request.headers.authorization);
  } catch (error) {
    // Keys that cannot be fetched are an outage and no verdict on the caller.
    if (!(error instanceof AppError) || error.status !== 'UNAUTHENTICATED') throw error;
    const { status, reason, publicMessage } = error;
    return refused(error.httpStatus ?? 401, { status, reason, message: publicMessage });
  }
  const push = decodePush(request.rawBody ?? new Uint8Array());
  if (push.kind === 'compact') return compact(dependencies, push, signal);
  dependencies.logger.log('ERROR', 'compaction_push_malformed', { problem: push.problem });
  return ACKNOWLEDGED;
}

/** Stops the work after `COMPACTION_TIMEOUT_MS`, or when nobody waits for the answer any more. */
async function withinTime<T>(
  dependencies: CompactionDependencies,
  response: ServerResponse,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const finished = new AbortController();
  const stop = (reason: string) => {
    controller.abort(new StoppedError({ state: 'ABORTED', reason }));
  };
  const onClose = () => {
    if (!response.writableFinished) stop('CALLER_LEFT');
  };
  response.once('close', onClose);
  const { clock, config } = dependencies;
  const timer = clock.wait(config.COMPACTION_TIMEOUT_MS, finished.signal).then(() => {
    if (!finished.signal.aborted) stop('DEADLINE');
    return undefined;
  });
  try {
    return await work(controller.signal);
  } finally {
    finished.abort();
    response.off('close', onClose);
    await timer;
  }
}

/**
 * The HTTP function behind the push subscription. 204 acknowledges: done, nothing to do, or hopeless
 * (logged). 503 with Retry-After has it delivered again: busy, or a failure that may pass. 405, 401 and
 * 403 for anybody else.
 */
export function createCompactionHandler(dependencies: CompactionDependencies): CompactionHandler {
  return async (request, response) => {
    let answer: Answer;
    try {
      answer = await withinTime(dependencies, response, (signal) =>
        answerPush(dependencies, request, signal),
      );
    } catch (error) {
      answer = answerOf(dependencies, error);
    }
    if (!response.writableEnded && !response.destroyed) send(response, answer);
  };
}
