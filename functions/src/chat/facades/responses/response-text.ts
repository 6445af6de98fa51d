import type { ResponseResource } from '#shared/wire/facades/responses/response.ts';
import type { Clock } from '#shared/ports/ports.ts';
import { singleLineJson } from '#shared/json-text.ts';
import {
  HEARTBEAT_DUE,
  withHeartbeats,
  type HeartbeatOptions,
} from '#functions/chat/http/heartbeat.ts';
import { openAiErrorReply } from '../openai/error-reply.ts';
import { responseEvents, type Answering, type ResponseEvent } from './response-events.ts';

/** A comment: every reader of events drops it, and an event of silence would take a sequence number. */
const HEARTBEAT = ': keep-alive\n\n';
const DONE = 'data: [DONE]\n\n';

const eventText = (event: ResponseEvent) =>
  `event: ${event.type}\ndata: ${singleLineJson(event)}\n\n`;

/** A response that failed after it began. */
function failedEvent(
  { response }: Answering,
  { error, sequenceNumber, docsUrl }: { error: unknown; sequenceNumber: number; docsUrl?: string },
): ResponseEvent {
  const { error: told } = openAiErrorReply(error, docsUrl).body;
  const { code, message, param, type } = told;
  return {
    type: 'response.failed',
    sequence_number: sequenceNumber,
    response: { ...response, status: 'failed', error: { code, message, param, type } },
  };
}

interface TextOptions extends HeartbeatOptions {
  clock: Clock;
  /** Where reasons of errors are explained. */
  docsUrl?: string | undefined;
  /** Only events with a higher number; absent: all of them. */
  after?: number | undefined;
}

/** The text of a stream of events. What fails ends as `response.failed`. */
export async function* responseText(
  answering: Answering,
  options: TextOptions,
): AsyncGenerator<string> {
  const { left, docsUrl, after = -1 } = options;
  let last = -1;
  try {
    for await (const next of withHeartbeats(responseEvents(answering, options), options)) {
      if (next === HEARTBEAT_DUE) yield HEARTBEAT;
      else {
        last = next.sequence_number;
        if (last > after) yield eventText(next);
      }
    }
  } catch (error) {
    const sequenceNumber = last + 1;
    yield eventText(
      failedEvent(answering, { error, sequenceNumber, ...(docsUrl !== undefined && { docsUrl }) }),
    );
  }
  if (left.aborted) return;
  yield DONE;
}

/** The whole response. Throws what the answer fails with. */
export async function responseBody(
  answering: Answering,
  options: { clock: Pick<Clock, 'now'> },
): Promise<ResponseResource> {
  let { response } = answering;
  for await (const event of responseEvents(answering, options))
    response = event.response ?? response;
  return response;
}
