import { requestEvent } from '#shared/compaction/event.ts';
import { pushBody } from '../embedded/push-delivery.ts';
import { localProjectId } from '../stack/stack-environment.ts';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';

export const redeliveryBody = z.strictObject({
  conversationId: z.uuid(),
  /** Job of the compaction whose event comes again. */
  requestId: z.string().min(1).max(128),
  times: z.int().min(1).max(10),
});
export type Redelivery = z.infer<typeof redeliveryBody>;

const TIMEOUT_MS = 60_000;

/**
 * Delivers the event of a compaction to the worker as often as asked, at once and under one message id: what Pub/Sub
 * does when it has lost an acknowledgement. Straight to the worker, because two publications would be two messages.
 * Returns the status of each delivery; 0 where there was no answer.
 */
export async function redeliver(compactionUrl: string, redelivery: Redelivery): Promise<number[]> {
  const { conversationId, requestId, times } = redelivery;
  const event = requestEvent({ conversationId, requestId });
  const message = {
    messageId: randomUUID(),
    data: Buffer.from(JSON.stringify(event)).toString('base64'),
    attributes: {},
    publishTime: new Date().toISOString(),
  };
  const body = pushBody(message, `projects/${localProjectId}/subscriptions/recap-compaction`);
  const deliverOnce = async (): Promise<number> => {
    try {
      const response = await fetch(compactionUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return 0;
    }
  };
  return Promise.all(Array.from({ length: times }, deliverOnce));
}
