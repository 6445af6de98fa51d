import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { CompactionDependencies } from '#functions/worker/compaction/compaction-dependencies.ts';
import { createCompactionHandler } from '#functions/worker/push/handle-push.ts';
import { pushBody } from '#infra/local/embedded/push-delivery.ts';

interface Push {
  /** Ends with the handler, or with what a crash point threw. */
  handled: Promise<void>;
  /** What Pub/Sub has heard so far: an acknowledgement, a refusal, or nothing. */
  answer: () => { isAcknowledged: boolean; retryAfterMs: number } | undefined;
}

/** One push of an event to a worker, through its handler and without a network. */
export function pushEvent(
  dependencies: CompactionDependencies,
  event: { id: string; data: object },
): Push {
  const request = new IncomingMessage(new Socket());
  request.method = 'POST';
  request.url = '/';
  request.push(
    pushBody(
      {
        messageId: event.id,
        data: Buffer.from(JSON.stringify(event.data)).toString('base64'),
        attributes: {},
        publishTime: '2026-01-02T03:04:05Z',
      },
      'projects/demo-recap/subscriptions/compaction',
    ),
  );
  request.push(null);
  const response = new ServerResponse(request);
  return {
    handled: createCompactionHandler(dependencies)(request, response),
    answer: () =>
      response.writableEnded
        ? {
            isAcknowledged: response.statusCode === 204,
            retryAfterMs: Number(response.getHeader('retry-after') ?? 1) * 1_000,
          }
        : undefined,
  };
}
