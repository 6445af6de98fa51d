import { request } from 'node:http';

/** One event as it travels. */
export interface BusMessage {
  messageId: string;
  /** JSON, encoded in base64. */
  data: string;
  attributes: Readonly<Record<string, string>>;
  publishTime: string;
}

/**
 * What both Cloud Pub/Sub and its emulator take for an acknowledgement of a push (the emulator, November
 * 2026: not 202, which Cloud Pub/Sub takes; but 203, which that does not).
 */
const ACKNOWLEDGEMENTS: readonly (number | undefined)[] = [200, 201, 204];

/** The body of a push, field for field as Pub/Sub sends it. */
export function pushBody(message: BusMessage, subscription: string): string {
  const { messageId, publishTime, data, attributes } = message;
  return JSON.stringify({
    message: {
      data,
      attributes,
      messageId,
      message_id: messageId,
      publishTime,
      publish_time: publishTime,
    },
    subscription,
  });
}

/** Posts `body`; true when it was acknowledged. No answer before `signal` fires is none. Never throws. */
export async function push(endpoint: string, body: string, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const outgoing = request(endpoint, {
    method: 'POST',
    // A connection for each push: none is left open when the bus closes.
    agent: false,
    signal,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
  });
  outgoing.once('error', () => {
    resolve(false);
  });
  outgoing.once('response', (response) => {
    response.on('error', () => {});
    response.resume();
    resolve(ACKNOWLEDGEMENTS.includes(response.statusCode));
  });
  outgoing.end(body);
  return promise;
}
